//! `embed(text)`: the vector of a text by the embedding model of the lake's index, of length 1; all zero if the model knows none
//! of its words.

use std::collections::HashMap;
use std::hash::{Hash, Hasher};
use std::sync::{Arc, LazyLock};

use arrow::array::{Array, ArrayRef, AsArray, FixedSizeListArray, Float32Array};
use arrow::buffer::NullBuffer;
use arrow::compute::cast;
use arrow::datatypes::{DataType, Field, FieldRef};
use datafusion::common::{Result, ScalarValue, exec_datafusion_err, exec_err, plan_err};
use datafusion::logical_expr::scalar_doc_sections::DOC_SECTION_STRING;
use datafusion::logical_expr::{ColumnarValue, Documentation, ScalarFunctionArgs, ScalarUDFImpl, Signature};

use super::{any_types, check_count};
use crate::Lakeward;
use lakeward_models::embed::{Embedder, EmbedderExt};

static DOCUMENTATION: LazyLock<Documentation> = LazyLock::new(|| {
    let description = "Computes the vector of a text by the lake's embedding model. `cosine` compares two vectors. NULL for \
        NULL; all zero if the model knows none of the words.";
    Documentation::builder(DOC_SECTION_STRING, description, "embed(text)")
        .with_sql_example("SELECT cosine(embed('inhabitants'), embed('population'))")
        .with_standard_argument("text", Some("String"))
        .with_related_udf("cosine")
        .build()
});

/// The function over the embedding model of a lake.
#[derive(Debug)]
pub(super) struct Embed {
    lake: Lakeward,
    types: Signature,
}

impl Embed {
    /// The function over the model of `lake`.
    pub(super) fn new(lake: &Lakeward) -> Self {
        Self { lake: lake.clone(), types: any_types(&[DataType::Utf8]) }
    }

    fn dims(&self) -> Result<i32> {
        i32::try_from(self.lake.embedder().dims())
            .map_err(|_| exec_datafusion_err!("the vectors of the model are too long"))
    }

    /// One vector per row.
    fn vectors(&self, texts: &ArrayRef) -> Result<ArrayRef> {
        let texts = cast(texts, &DataType::Utf8)?;
        let texts = texts.as_string::<i32>();
        let dims = self.dims()?;
        let mut places: HashMap<&str, usize> = HashMap::new();
        let mut distinct = Vec::new();
        for text in texts.iter().flatten() {
            places.entry(text).or_insert_with(|| {
                distinct.push(text);
                distinct.len() - 1
            });
        }
        let vectors = embedded(self.lake.embedder(), &distinct)?;
        let width = dims as usize;
        let mut values = vec![0.0f32; texts.len() * width];
        for (out, text) in values.chunks_exact_mut(width).zip(texts) {
            if let Some(place) = text.and_then(|text| places.get(text)) {
                out.copy_from_slice(&vectors[place * width..][..width]);
            }
        }
        let nulls: Option<NullBuffer> = texts.nulls().cloned();
        Ok(Arc::new(FixedSizeListArray::try_new(item(), dims, Arc::new(Float32Array::from(values)), nulls)?))
    }
}

impl PartialEq for Embed {
    fn eq(&self, other: &Self) -> bool {
        self.lake.place() == other.lake.place() && self.lake.embedder().id() == other.lake.embedder().id()
    }
}

impl Eq for Embed {}

impl Hash for Embed {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.lake.embedder().id().hash(state);
    }
}

impl ScalarUDFImpl for Embed {
    fn name(&self) -> &str {
        "embed"
    }

    fn signature(&self) -> &Signature {
        &self.types
    }

    fn return_type(&self, arguments: &[DataType]) -> Result<DataType> {
        check_count("embed", arguments.len(), 1, &DOCUMENTATION)?;
        match arguments {
            [found] if !is_text(found) => plan_err!("embed takes text, not {found}; cast it with `x::varchar`"),
            _ => Ok(DataType::FixedSizeList(item(), self.dims()?)),
        }
    }

    fn invoke_with_args(&self, arguments: ScalarFunctionArgs) -> Result<ColumnarValue> {
        match arguments.args.first() {
            Some(ColumnarValue::Scalar(text)) => {
                let vector = self.vectors(&text.to_array()?)?;
                ScalarValue::try_from_array(&vector, 0).map(ColumnarValue::Scalar)
            }
            Some(ColumnarValue::Array(texts)) => self.vectors(texts).map(ColumnarValue::Array),
            None => exec_err!("embed takes a text"),
        }
    }

    fn documentation(&self) -> Option<&Documentation> {
        Some(&DOCUMENTATION)
    }
}

fn is_text(data_type: &DataType) -> bool {
    match data_type {
        DataType::Null => true,
        DataType::Dictionary(_, values) => is_text(values),
        other => other.is_string(),
    }
}

fn item() -> FieldRef {
    Arc::new(Field::new_list_field(DataType::Float32, true))
}

/// The vectors of `texts`, one after the other.
fn embedded(embedder: &dyn Embedder, texts: &[&str]) -> Result<Vec<f32>> {
    let work = || {
        embedder.prefetch(|| texts.iter().map(|text| (*text).to_string()).collect());
        let mut vectors = vec![0.0; texts.len() * embedder.dims()];
        for (out, text) in vectors.chunks_exact_mut(embedder.dims()).zip(texts) {
            embedder.embed_into(text, out);
        }
        (vectors, embedder.failure())
    };
    // A remote model blocks, which must not happen on a thread of an async runtime.
    let outcome = if tokio::runtime::Handle::try_current().is_ok() {
        std::thread::scope(|scope| scope.spawn(work).join())
    } else {
        Ok(work())
    };
    match outcome {
        Ok((vectors, None)) => Ok(vectors),
        Ok((_, Some(trouble))) => exec_err!("the embedding model returned no vectors: {}", trouble.message),
        Err(_) => exec_err!("the embedding model failed"),
    }
}
