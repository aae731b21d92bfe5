//! Breaks texts into lines for a terminal.

/// Breaks a text into lines of at most `width` characters, at spaces where there are any.
pub(crate) fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    let mut length = 0;
    for word in text.split(' ').flat_map(|word| pieces(word, width)) {
        let size = word.chars().count();
        if length > 0 && length + 1 + size > width {
            lines.push(String::new());
            length = 0;
        }
        if let Some(line) = lines.last_mut() {
            if length > 0 {
                line.push(' ');
                length += 1;
            }
            line.push_str(&word);
        }
        length += size;
    }
    lines
}

/// A word that is longer than a line, in as many pieces as it takes.
fn pieces(word: &str, width: usize) -> Vec<String> {
    let characters: Vec<char> = word.chars().collect();
    characters.chunks(width.max(1)).map(|chunk| chunk.iter().collect()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_line_is_longer_than_the_width_and_no_word_is_lost() {
        let text = "one two three a-word-that-is-longer-than-any-line four";
        let lines = wrap(text, 10);
        assert!(lines.iter().all(|line| line.chars().count() <= 10), "{lines:?}");
        let joined = lines.concat().replace(' ', "");
        assert_eq!(joined, text.replace(' ', ""));
    }
}
