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
