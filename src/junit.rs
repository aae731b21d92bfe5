//! JUnit files, which CI systems read: a value becomes text. It knows XML, and nothing of what the
//! cases are about.

use std::fmt::Write as _;

/// One file: a suite with its cases.
#[derive(Debug, Clone, PartialEq)]
pub struct Suite {
    /// What was done.
    pub name: String,
    /// How long all of it took.
    pub seconds: f64,
    /// What came of it, in order.
    pub cases: Vec<Case>,
}

/// One case.
#[derive(Debug, Clone, PartialEq)]
pub struct Case {
    /// Which group it belongs to.
    pub class: String,
    /// Which it is.
    pub name: String,
    /// How long it took, if it took any time.
    pub seconds: Option<f64>,
    /// How it ended.
    pub result: CaseResult,
    /// What it printed.
    pub stdout: String,
    /// What it printed as errors.
    pub stderr: String,
}

/// How a case ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CaseResult {
    /// As it should.
    Passed,
    /// Not as it should.
    Failed(Reason),
    /// Nobody can tell how it would have.
    Error(Reason),
    /// It was left out, for this reason.
    Skipped(String),
}

/// Why a case did not pass.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reason {
    /// One word for all of its kind.
    pub kind: String,
    /// What happened, in one line.
    pub message: String,
    /// What more there is to say.
    pub details: String,
}

impl Suite {
    /// The text of the file.
    pub fn to_xml(&self) -> String {
        let count = |which: fn(&CaseResult) -> bool| {
            self.cases.iter().filter(|case| which(&case.result)).count()
        };
        let sums = format!(
            r#"tests="{}" failures="{}" errors="{}" skipped="{}" time="{:.3}""#,
            self.cases.len(),
            count(|result| matches!(result, CaseResult::Failed(_))),
            count(|result| matches!(result, CaseResult::Error(_))),
            count(|result| matches!(result, CaseResult::Skipped(_))),
            self.seconds,
        );
        let name = escape(&self.name);
        let cases: String = self.cases.iter().map(Case::to_xml).collect();
        format!(
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"{name}\" {sums}>\n  \
             <testsuite name=\"{name}\" {sums}>\n{cases}  </testsuite>\n</testsuites>\n"
        )
    }
}

impl Case {
    fn to_xml(&self) -> String {
        let (class, name) = (escape(&self.class), escape(&self.name));
        let time = self.seconds.map(|seconds| format!(r#" time="{seconds:.3}""#));
        let time = time.unwrap_or_default();
        let mut xml = format!("    <testcase classname=\"{class}\" name=\"{name}\"{time}>\n");
        let inside = self.result.to_xml()
            + &output("system-out", &self.stdout)
            + &output("system-err", &self.stderr);
        writeln!(xml, "{inside}    </testcase>").expect("a string takes everything");
        xml
    }
}

impl CaseResult {
    fn to_xml(&self) -> String {
        match self {
            Self::Passed => String::new(),
            Self::Failed(reason) => reason.to_xml("failure"),
            Self::Error(reason) => reason.to_xml("error"),
            Self::Skipped(why) => format!("      <skipped message=\"{}\"/>\n", escape(why)),
        }
    }
}

impl Reason {
    fn to_xml(&self, element: &str) -> String {
        let [kind, message, details] =
            [&self.kind, &self.message, &self.details].map(|text| escape(text));
        format!("      <{element} type=\"{kind}\" message=\"{message}\">{details}</{element}>\n")
    }
}

fn output(element: &str, text: &str) -> String {
    if text.is_empty() {
        return String::new();
    }
    format!("      <{element}>{}</{element}>\n", escape(text))
}

/// For an attribute or an element. XML knows no control characters, not even escaped ones: they
/// are shown as a terminal would be spared them.
fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\t' => escaped.push_str("&#9;"),
            '\n' => escaped.push_str("&#10;"),
            '\r' => escaped.push_str("&#13;"),
            '\u{fffe}' | '\u{ffff}' => escaped.push('\u{fffd}'),
            c if c.is_control() => {
                write!(escaped, "\\x{:02x}", u32::from(c)).expect("a string takes everything");
            }
            c => escaped.push(c),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    fn case(name: &str, result: CaseResult, stdout: &str) -> Case {
        let (class, name, stdout) = ("python".to_owned(), name.to_owned(), stdout.to_owned());
        Case { class, name, seconds: Some(0.25), result, stdout, stderr: String::new() }
    }

    #[test]
    fn a_suite_has_its_sums_and_its_cases_in_order() {
        let reason = Reason {
            kind: "timeout".to_owned(),
            message: "over 1 s".to_owned(),
            details: "hint".to_owned(),
        };
        let suite = Suite {
            name: "das run".to_owned(),
            seconds: 1.5,
            cases: vec![
                case("a.py", CaseResult::Passed, ""),
                case("b.py", CaseResult::Failed(reason.clone()), "out\n"),
                case("c.py", CaseResult::Error(reason), ""),
                Case { seconds: None, ..case("d.py", CaseResult::Skipped("stopped".into()), "") },
            ],
        };
        let expected = r#"<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="das run" tests="4" failures="1" errors="1" skipped="1" time="1.500">
  <testsuite name="das run" tests="4" failures="1" errors="1" skipped="1" time="1.500">
    <testcase classname="python" name="a.py" time="0.250">
    </testcase>
    <testcase classname="python" name="b.py" time="0.250">
      <failure type="timeout" message="over 1 s">hint</failure>
      <system-out>out&#10;</system-out>
    </testcase>
    <testcase classname="python" name="c.py" time="0.250">
      <error type="timeout" message="over 1 s">hint</error>
    </testcase>
    <testcase classname="python" name="d.py">
      <skipped message="stopped"/>
    </testcase>
  </testsuite>
</testsuites>
"#;
        assert_eq!(suite.to_xml(), expected);
    }

    #[test]
    fn no_text_breaks_out_of_its_element_or_its_attribute() {
        let hostile = "\"/><x a='1'>&amp;\u{1b}[2J\0\u{ffff}]]>";
        let escaped = escape(hostile);
        assert_eq!(escaped, "&quot;/&gt;&lt;x a='1'&gt;&amp;amp;\\x1b[2J\\x00\u{fffd}]]&gt;");
        let xml_takes = |c: char| !c.is_control() && !"<>\"".contains(c);
        assert!(escape("\r\n\t\u{85}\u{7f}é😀").chars().all(xml_takes));
    }
}
