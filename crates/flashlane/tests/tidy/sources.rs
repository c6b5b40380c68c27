//! The Rust sources of the repository, and what the checks know of each.

use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use proc_macro2::{LineColumn, Span, TokenStream, TokenTree};
use syn::visit::{self, Visit};

/// All sources, sorted by path.
pub(crate) static SOURCES: LazyLock<Vec<Source>> = LazyLock::new(read);

/// A source file.
#[derive(Default)]
pub(crate) struct Source {
    /// From the root of the repository, with `/` on every platform.
    pub(crate) path: String,
    pub(crate) text: String,
    pub(crate) functions: Vec<Function>,
    /// Modules in files of their own.
    pub(crate) modules: Vec<Module>,
    /// Implementations of traits, outside of the tests in the file.
    pub(crate) implementations: Vec<Implementation>,
    /// Traits, outside of the tests in the file.
    pub(crate) traits: Vec<String>,
    /// The names in the tables of policies.
    pub(crate) tables: Vec<Vec<String>>,
    /// The lines of calls of `unwrap`, outside of the tests in the file.
    pub(crate) unwraps: Vec<usize>,
    /// The lines of the tests in the file.
    pub(crate) tests: Vec<RangeInclusive<usize>>,
    /// Where string literals start and end. Columns count characters from 0.
    pub(crate) strings: Vec<(LineColumn, LineColumn)>,
}

/// A function with a body.
pub(crate) struct Function {
    pub(crate) name: String,
    pub(crate) line: usize,
    /// Length from `fn` to the closing brace. Unit: lines.
    pub(crate) length: usize,
}

/// A module in a file of its own.
pub(crate) struct Module {
    pub(crate) name: String,
    /// The modules of this file that it stands in.
    pub(crate) inside: Vec<String>,
    /// The file that an attribute names.
    pub(crate) path: Option<String>,
    /// Only tests compile it.
    pub(crate) test: bool,
}

/// `impl Trait for Type`.
pub(crate) struct Implementation {
    pub(crate) of: String,
    pub(crate) by: String,
    pub(crate) line: usize,
}

/// A place that does not follow a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Finding {
    pub(crate) path: String,
    pub(crate) line: usize,
    pub(crate) what: String,
}

impl Source {
    /// The source of a path and a text.
    pub(crate) fn of(path: &str, text: &str) -> Self {
        let parsed = || -> syn::Result<(TokenStream, syn::File)> {
            let tokens: TokenStream = text.parse()?;
            Ok((tokens.clone(), syn::parse2(tokens)?))
        };
        let (tokens, file) =
            parsed().unwrap_or_else(|error| panic!("{path}:{:?}: {error}", error.span().start()));
        let source = Self { path: path.to_owned(), text: text.to_owned(), ..Self::default() };
        let mut items = Items { source, inside: Vec::new() };
        items.visit_file(&file);
        let mut source = items.source;
        source.look_at(tokens);
        source
    }

    pub(crate) fn finding(&self, line: usize, what: impl Into<String>) -> Finding {
        Finding { path: self.path.clone(), line, what: what.into() }
    }

    /// Lines that are not part of the tests in the file.
    pub(crate) fn lines_of_code(&self) -> usize {
        let of_tests: usize = self.tests.iter().map(|lines| lines.clone().count()).sum();
        self.text.lines().count() - of_tests
    }

    fn in_tests(&self, line: usize) -> bool {
        self.tests.iter().any(|lines| lines.contains(&line))
    }

    /// Looks for string literals and calls of `unwrap`.
    fn look_at(&mut self, tokens: TokenStream) {
        let mut after_dot = false;
        for token in tokens {
            let was_dot = std::mem::take(&mut after_dot);
            match token {
                TokenTree::Group(group) => self.look_at(group.stream()),
                TokenTree::Punct(punct) => after_dot = punct.as_char() == '.',
                TokenTree::Ident(ident) => {
                    let line = ident.span().start().line;
                    if was_dot && ident == "unwrap" && !self.in_tests(line) {
                        self.unwraps.push(line);
                    }
                }
                TokenTree::Literal(literal) => {
                    let (start, end) = (literal.span().start(), literal.span().end());
                    let line = self.text.lines().nth(start.line - 1).unwrap_or_default();
                    let first = line.chars().nth(start.column);
                    // A documentation comment is a literal as well, but starts with a slash.
                    let quoted = literal.to_string().ends_with(['"', '#']);
                    if quoted && first.is_some_and(|first| "\"rbc".contains(first)) {
                        self.strings.push((start, end));
                    }
                }
            }
        }
    }
}

/// Collects the items of a file.
struct Items {
    source: Source,
    /// The modules around the current item.
    inside: Vec<String>,
}

impl Items {
    fn function(&mut self, signature: &syn::Signature, end: Span) {
        let line = signature.fn_token.span.start().line;
        let length = end.end().line - line + 1;
        self.source.functions.push(Function { name: signature.ident.to_string(), line, length });
    }
}

impl Visit<'_> for Items {
    fn visit_item_fn(&mut self, item: &syn::ItemFn) {
        self.function(&item.sig, item.block.brace_token.span.close());
        visit::visit_item_fn(self, item);
    }

    fn visit_impl_item_fn(&mut self, item: &syn::ImplItemFn) {
        self.function(&item.sig, item.block.brace_token.span.close());
        visit::visit_impl_item_fn(self, item);
    }

    fn visit_trait_item_fn(&mut self, item: &syn::TraitItemFn) {
        if let Some(block) = &item.default {
            self.function(&item.sig, block.brace_token.span.close());
        }
        visit::visit_trait_item_fn(self, item);
    }

    fn visit_item_mod(&mut self, item: &syn::ItemMod) {
        let (name, test) = (item.ident.to_string(), is_for_tests(&item.attrs));
        let Some((brace, _)) = &item.content else {
            let (inside, path) = (self.inside.clone(), path_of(&item.attrs));
            return self.source.modules.push(Module { name, inside, path, test });
        };
        if test {
            let first = item.attrs.first().map_or(item.mod_token.span, |it| it.pound_token.span);
            self.source.tests.push(first.start().line..=brace.span.close().end().line);
        }
        self.inside.push(name);
        visit::visit_item_mod(self, item);
        self.inside.pop();
    }

    fn visit_item_impl(&mut self, item: &syn::ItemImpl) {
        let line = item.impl_token.span.start().line;
        if let Some((of, _)) = &item.trait_
            && !self.source.in_tests(line)
            && let (Some(of), syn::Type::Path(by)) = (of.segments.last(), &*item.self_ty)
            && let Some(by) = by.path.segments.last()
        {
            let (of, by) = (of.ident.to_string(), by.ident.to_string());
            self.source.implementations.push(Implementation { of, by, line });
        }
        visit::visit_item_impl(self, item);
    }

    fn visit_item_trait(&mut self, item: &syn::ItemTrait) {
        if !self.source.in_tests(item.trait_token.span.start().line) {
            self.source.traits.push(item.ident.to_string());
        }
        visit::visit_item_trait(self, item);
    }

    fn visit_macro(&mut self, item: &syn::Macro) {
        if item.path.segments.last().is_some_and(|last| last.ident == "policies") {
            let mut names = Vec::new();
            identifiers(item.tokens.clone(), &mut names);
            self.source.tables.push(names);
        }
    }
}

/// The identifiers among tokens, those in groups included.
fn identifiers(tokens: TokenStream, names: &mut Vec<String>) {
    for token in tokens {
        match token {
            TokenTree::Group(group) => identifiers(group.stream(), names),
            TokenTree::Ident(ident) => names.push(ident.to_string()),
            TokenTree::Punct(_) | TokenTree::Literal(_) => {}
        }
    }
}

/// `#[cfg(test)]`, perhaps with further conditions.
fn is_for_tests(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        let mut names = Vec::new();
        if let syn::Meta::List(list) = &attribute.meta
            && list.path.is_ident("cfg")
        {
            identifiers(list.tokens.clone(), &mut names);
        }
        names.iter().any(|name| name == "test") && !names.iter().any(|name| name == "not")
    })
}

/// The file of `#[path = "…"]`.
fn path_of(attributes: &[syn::Attribute]) -> Option<String> {
    attributes.iter().find_map(|attribute| match &attribute.meta {
        syn::Meta::NameValue(pair) if pair.path.is_ident("path") => match &pair.value {
            syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(text), .. }) => Some(text.value()),
            _ => None,
        },
        _ => None,
    })
}

/// The root of the repository.
fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().nth(3).expect("the root of the repository").to_path_buf()
}

fn read() -> Vec<Source> {
    let root = root();
    let mut paths = Vec::new();
    for folder in ["crates", "fuzz"] {
        list(&root.join(folder), &mut paths);
    }
    paths.sort();
    let source = |path: &PathBuf| {
        let inside = path.strip_prefix(&root).expect("a file of the repository");
        let text = std::fs::read_to_string(path).expect("a source file");
        Source::of(&inside.to_string_lossy().replace('\\', "/"), &text)
    };
    paths.iter().map(source).collect()
}

fn list(folder: &Path, paths: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("a folder of the repository") {
        let path = entry.expect("an entry of the folder").path();
        let name = path.file_name().unwrap_or_default();
        if path.is_dir() && name != "target" {
            list(&path, paths);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            paths.push(path);
        }
    }
}

/// Fails for findings in files that are not `known`, and for `known` files and folders (which end
/// in `/`) without a finding.
pub(crate) fn ratchet(rule: &str, findings: &[Finding], known: &[&str]) {
    let problems = problems(findings, known);
    assert!(problems.is_empty(), "{rule}\n\n    {}\n", problems.join("\n    "));
}

fn problems(findings: &[Finding], known: &[&str]) -> Vec<String> {
    let covers = |known: &str, path: &str| match known.ends_with('/') {
        true => path.starts_with(known),
        false => path == known,
    };
    let new = findings.iter().filter(|it| !known.iter().any(|known| covers(known, &it.path)));
    let mut problems: Vec<String> =
        new.map(|Finding { path, line, what }| format!("{path}:{line}: {what}")).collect();
    let over = known.iter().filter(|known| !findings.iter().any(|it| covers(known, &it.path)));
    problems.extend(over.map(|it| format!("{it} follows the rule now: take it off the list")));
    problems
}

#[test]
fn a_list_of_offenders_only_shrinks() {
    let finding = |path: &str| Finding { path: path.to_owned(), line: 7, what: "bad".to_owned() };
    let findings = [finding("a.rs"), finding("b/c.rs"), finding("d.rs")];
    assert_eq!(problems(&findings, &["a.rs", "b/", "d.rs"]), [""; 0]);
    let expected = ["d.rs:7: bad", "e.rs follows the rule now: take it off the list"];
    assert_eq!(problems(&findings, &["a.rs", "b/", "e.rs"]), expected);
}

pub(crate) fn all_sources_are_read() {
    let this = "crates/flashlane/tests/tidy/sources.rs";
    let source = SOURCES.iter().find(|source| source.path == this).expect("this file");
    assert!(source.functions.iter().any(|function| function.name == "all_sources_are_read"));
    assert!(SOURCES.len() > 300, "{} sources", SOURCES.len());
}
