//! Nothing: what counts are the dependencies of this package.
//!
//! Cargo compiles a package once for each set of features that somebody asks for, and asks only the selected crates. Every crate of the
//! workspace has this one as a dev-dependency, so `cargo test -p lakeward-index` asks for the features of the whole workspace, and
//! Arrow and DataFusion are not compiled a second time.
