//! The little of JSON that case files need. They are well-formed: other tests check that.

#[derive(Clone, Debug, PartialEq)]
pub enum Json {
    Null,
    Bool(bool),
    /// As it is spelled.
    Number(String),
    String(String),
    Array(Vec<Json>),
    Object(Vec<(String, Json)>),
}

impl Json {
    pub fn read(text: &str) -> Json {
        Reader { bytes: text.as_bytes(), at: 0 }.value()
    }

    pub fn get(&self, key: &str) -> Option<&Json> {
        self.members().iter().find(|(name, _)| name == key).map(|(_, value)| value)
    }

    pub fn members(&self) -> &[(String, Json)] {
        match self {
            Json::Object(members) => members,
            _ => &[],
        }
    }

    pub fn items(&self) -> &[Json] {
        match self {
            Json::Array(items) => items,
            _ => panic!("{self:?} is no array"),
        }
    }

    pub fn text(&self) -> &str {
        match self {
            Json::String(text) => text,
            _ => panic!("{self:?} is no string"),
        }
    }

    pub fn integer(&self) -> i64 {
        match self {
            Json::Number(number) => number.parse().unwrap(),
            _ => panic!("{self:?} is no number"),
        }
    }

    /// Its text, with members in their order.
    pub fn write(&self) -> String {
        match self {
            Json::Null => "null".to_owned(),
            Json::Bool(value) => value.to_string(),
            Json::Number(number) => number.clone(),
            Json::String(text) => quoted(text),
            Json::Array(items) => format!("[{}]", items.iter().map(Json::write).collect::<Vec<_>>().join(",")),
            Json::Object(members) => {
                let written = members.iter().map(|(key, value)| format!("{}:{}", quoted(key), value.write()));
                format!("{{{}}}", written.collect::<Vec<_>>().join(","))
            }
        }
    }
}

fn quoted(text: &str) -> String {
    let mut written = String::from('"');
    for letter in text.chars() {
        match letter {
            '"' | '\\' => written.extend(['\\', letter]),
            '\0'..='\x1f' => written.push_str(&format!("\\u{:04x}", letter as u32)),
            _ => written.push(letter),
        }
    }
    written + "\""
}

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Reader<'_> {
    fn value(&mut self) -> Json {
        match self.peek() {
            b'{' => {
                let mut members = Vec::new();
                self.list(b'}', |reader| {
                    let key = reader.string();
                    reader.take(b':');
                    members.push((key, reader.value()));
                });
                Json::Object(members)
            }
            b'[' => {
                let mut items = Vec::new();
                self.list(b']', |reader| items.push(reader.value()));
                Json::Array(items)
            }
            b'"' => Json::String(self.string()),
            _ => self.word(),
        }
    }

    fn peek(&mut self) -> u8 {
        while self.bytes[self.at].is_ascii_whitespace() {
            self.at += 1;
        }
        self.bytes[self.at]
    }

    fn take(&mut self, expected: u8) {
        assert_eq!(self.peek() as char, expected as char, "at byte {}", self.at);
        self.at += 1;
    }

    fn list(&mut self, end: u8, mut item: impl FnMut(&mut Self)) {
        self.at += 1;
        while self.peek() != end {
            item(self);
            if self.peek() == b',' {
                self.at += 1;
            }
        }
        self.at += 1;
    }

    fn word(&mut self) -> Json {
        let start = self.at;
        while self.at < self.bytes.len() && !b",]} \r\n\t".contains(&self.bytes[self.at]) {
            self.at += 1;
        }
        match std::str::from_utf8(&self.bytes[start..self.at]).unwrap() {
            "null" => Json::Null,
            "true" => Json::Bool(true),
            "false" => Json::Bool(false),
            number => Json::Number(number.to_owned()),
        }
    }

    fn string(&mut self) -> String {
        self.take(b'"');
        let mut units: Vec<u8> = Vec::new();
        loop {
            let byte = self.bytes[self.at];
            self.at += 1;
            match byte {
                b'"' => return String::from_utf8(units).unwrap(),
                b'\\' => {
                    let mut buffer = [0; 4];
                    units.extend_from_slice(self.escape().encode_utf8(&mut buffer).as_bytes());
                }
                _ => units.push(byte),
            }
        }
    }

    fn escape(&mut self) -> char {
        let letter = self.bytes[self.at];
        self.at += 1;
        match letter {
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'b' => '\x08',
            b'f' => '\x0c',
            b'u' => {
                let first = self.hex();
                if !(0xd800..0xdc00).contains(&first) {
                    return char::from_u32(first).unwrap();
                }
                self.at += 2;
                char::from_u32(0x10000 + ((first - 0xd800) << 10) + (self.hex() - 0xdc00)).unwrap()
            }
            other => other as char,
        }
    }

    fn hex(&mut self) -> u32 {
        let digits = std::str::from_utf8(&self.bytes[self.at..self.at + 4]).unwrap();
        self.at += 4;
        u32::from_str_radix(digits, 16).unwrap()
    }
}
