//! Parses abi/mpi5.txt and abi/beyond.txt.

/// The whole ABI.
pub(crate) struct Abi {
    pub(crate) sections: Vec<Section>,
    pub(crate) callbacks: Vec<Function>,
    pub(crate) functions: Vec<Function>,
}

/// Constants of one kind.
pub(crate) struct Section {
    pub(crate) kind: Kind,
    /// Pairs of name and value: a number, or the name of another constant.
    pub(crate) entries: Vec<(String, String)>,
}

#[derive(PartialEq)]
pub(crate) enum Kind {
    Handle(String),
    Int { title: String },
    Enumeration(String),
    Pointer(String),
    Number,
    SameCallback,
}

/// One function, or one type of callback.
pub(crate) struct Function {
    pub(crate) name: String,
    /// True if it takes large counts (NAME_c).
    pub(crate) large: bool,
    pub(crate) parameters: Vec<Parameter>,
    pub(crate) result: String,
}

/// A parameter; `...` has no type.
pub(crate) struct Parameter {
    pub(crate) name: String,
    pub(crate) c_type: String,
    /// True if the other variant has another type here.
    pub(crate) varies: bool,
}

impl Abi {
    /// Adds the definitions of another file.
    pub(crate) fn add(&mut self, beyond: Abi) {
        self.sections.extend(beyond.sections);
        self.callbacks.extend(beyond.callbacks);
        self.functions.extend(beyond.functions);
    }
}

pub(crate) fn parse(file: &str, text: &str) -> Result<Abi, String> {
    let mut abi = Abi { sections: vec![], callbacks: vec![], functions: vec![] };
    let mut head = String::new();
    for (index, line) in text.lines().enumerate() {
        let wrong = |what: &str| format!("abi/{file}, line {}: {what}: {line}", index + 1);
        if line.trim().is_empty() || line.starts_with('#') {
            continue;
        }
        if let Some(section) = line.strip_prefix('[') {
            head = section.strip_suffix(']').ok_or_else(|| wrong("no closing bracket"))?.into();
            if let Some(kind) = kind(&head) {
                abi.sections.push(Section { kind, entries: vec![] });
            }
        } else if head == "function" {
            abi.functions.extend(functions(line).ok_or_else(|| wrong("not a function"))?);
        } else if head == "callback" {
            abi.callbacks.extend(functions(line).ok_or_else(|| wrong("not a callback"))?);
        } else {
            let section = abi.sections.last_mut().ok_or_else(|| wrong("no section"))?;
            let pair = line.split_once(" = ").or_else(|| line.split_once(' '));
            let (name, value) = pair.ok_or_else(|| wrong("not a name and a value"))?;
            section.entries.push((name.into(), value.into()));
        }
    }
    Ok(abi)
}

fn kind(head: &str) -> Option<Kind> {
    let (word, rest) = head.split_once(' ').unwrap_or((head, ""));
    Some(match (word, rest) {
        ("handle", name) => Kind::Handle(name.into()),
        ("int", rest) => match rest.strip_prefix("as ") {
            Some(name) => Kind::Enumeration(name.into()),
            None => Kind::Int { title: rest.trim_start_matches("# ").into() },
        },
        ("pointer", c_type) => Kind::Pointer(c_type.into()),
        ("number", _) => Kind::Number,
        ("same", _) => Kind::SameCallback,
        _ => return None,
    })
}

/// Returns the one or two functions of a line.
fn functions(line: &str) -> Option<Vec<Function>> {
    let (name, rest) = line.split_once('(')?;
    let (parameters, rest) = rest.rsplit_once(')')?;
    let result = rest.strip_prefix(" -> ").unwrap_or("int");
    let variant = |name: &str, large: bool| {
        let parameters = parameters.split(", ").filter(|one| !one.is_empty());
        Some(Function {
            name: name.into(),
            large,
            parameters: parameters.map(|one| parameter(one, large)).collect::<Option<_>>()?,
            result: result.into(),
        })
    };
    Some(match name.strip_suffix('*') {
        Some(name) => vec![variant(name, false)?, variant(&format!("{name}_c"), true)?],
        None => vec![variant(name, false)?],
    })
}

fn parameter(text: &str, large: bool) -> Option<Parameter> {
    if text == "..." {
        return Some(Parameter { name: text.into(), c_type: String::new(), varies: false });
    }
    let (name, types) = text.split_once(": ")?;
    let (small, other) = types.split_once('|').unwrap_or((types, types));
    Some(Parameter {
        name: name.into(),
        c_type: if large { other } else { small }.into(),
        varies: small != other,
    })
}
