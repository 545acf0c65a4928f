/** Keeps secrets out of what is kept or shown: each is replaced by a placeholder that stays the same. */

/** What is secret beyond what is known by its form. */
export interface RedactionRules {
  /** Further headers, in any letters. */
  readonly headers: readonly string[]
  /** Further parameters of the query. */
  readonly query: readonly string[]
  readonly emails: boolean
  /** Expressions, with the names of their placeholders. */
  readonly patterns: readonly { readonly name: string; readonly pattern: RegExp }[]
  /** Values that are known to be secret, with the names of their placeholders: the live keys, for example. */
  readonly known: readonly { readonly name: string; readonly value: string }[]
}

/** Replaces the secrets of one exchange: the same secret by the same placeholder, numbered in the order in which they appear. */
export interface Redaction {
  text(text: string): string
  /** Texts that stand behind one another: a secret that goes over a border is replaced in the one that it begins in. As many come out as went in. */
  pieces(texts: readonly string[]): readonly string[]
  /** A JSON value: the texts in it, the names of its fields included. */
  value(value: unknown): unknown
  /** Node's flat array of names and values. */
  headers(headers: readonly string[]): readonly string[]
  /** What stands behind the `?`, not decoded. */
  query(query: string): string
}

/** Makes redactions. `own` are the credentials of this one caller. */
export type Redact = (own?: readonly string[]) => Redaction
