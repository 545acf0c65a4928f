/** What came of checking one clause. */

/** One request and its answer, without secrets, to be shown. */
export interface Shown {
  readonly asked: string
  readonly answered: string
}

export interface Broken {
  readonly kind: 'broken'
  readonly expected: string
  readonly came: string
  readonly shown: Shown
}

/** Nothing was found out, and why. */
export interface Skipped {
  readonly kind: 'skipped'
  readonly why: string
}

export type Verdict = { readonly kind: 'held' } | Broken | Skipped

export const held: Verdict = { kind: 'held' }

export const skipped = (why: string): Skipped => ({ kind: 'skipped', why })
