/** The building blocks of options: with a default and a description, secret or not, single or grouped. */
import * as v from 'valibot'
import { closed, described, text, word } from '../check/check.js'
import { isMoment } from '../check/formats.js'
import { credentialKinds } from '../core/exchange.js'

export { filled, text } from '../check/check.js'

/** An option with its default and description. */
export const option = <const S extends v.GenericSchema>(schema: S, initial: v.InferInput<S>, meaning: string) =>
  v.optional(described(schema, meaning), initial as never)

/** An option that is masked when it is shown. */
export const secret = <const S extends v.GenericSchema>(schema: S) => v.pipe(schema, v.metadata({ secret: true }))

/** Options under one name. If all of them are commented out, YAML reads null, which counts as nothing set. */
export const group = <const E extends v.ObjectEntries>(entries: E, meaning: string) =>
  v.nullish(v.pipe(closed(entries), v.description(meaning)), {} as never)

export const list = <S extends v.GenericSchema>(item: S, of: string) => v.array(item, `a list of ${of}`)

export const anAddress = 'an http or https address without a password'

/** Without a password, since the banner shows it, and without a query, which would be added to every request. */
export const httpUrl = v.pipe(
  text,
  v.check(address => /^https?:\/\/[^@?#]*$/i.test(address) && URL.canParse(address), anAddress),
)

/** A credential that is allowed after "Bearer " in a header. */
export const credential = v.pipe(text, v.regex(/^[\x21-\x7e]*$/, 'a key without spaces or line ends'))

export const time = v.pipe(text, v.check(isMoment, 'a time such as 2030-01-31T12:00:00Z'))

export const differentIfSet = (values: readonly unknown[]) => {
  const set = values.filter(value => value !== undefined)
  return different(set, value => value)
}
export const different = <T>(items: readonly T[], by: (item: T) => unknown) =>
  new Set(items.map(by)).size === items.length

export const id = v.pipe(text, v.uuid('a UUID'))
export const flag = (initial: boolean, meaning: string) => option(v.boolean('true or false'), initial, meaning)
export const metadata = v.record(v.string(), v.unknown(), 'a map')

export const access = v.union(
  [
    v.literal('anyone', 'anyone, or a list of credential kinds'),
    v.pipe(list(word(credentialKinds), 'credential kinds'), v.nonEmpty('anyone, or a list with at least one kind')),
  ],
  `anyone, or a list of ${credentialKinds.join(', ')}`,
)
