//! Names of closed sets, each written once.

/// Gives an enum its values in order (`ALL`), their names (`name`), and the value of a name (`named`). The sentence is that of `name`.
#[macro_export]
macro_rules! names {
    ($set:ident, $about:literal: $($value:ident = $name:literal),+ $(,)?) => {
        impl $set {
            /// All of them, in order.
            pub const ALL: [Self; [$($name),+].len()] = [$(Self::$value),+];

            #[doc = $about]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$value => $name),+ }
            }

            /// The one of this name.
            pub fn named(name: &str) -> Option<Self> {
                Self::ALL.into_iter().find(|value| value.name() == name)
            }
        }
    };
}
