/** Random documents of a whole state. */
import fc from 'fast-check'
import { documentOf, type StateDocument } from '../../src/state/document.js'
import { anyCharacter } from '../characters.js'
import {
  apiKey,
  at,
  flowState,
  message,
  oneTimeToken,
  refreshToken,
  resource,
  resourceRow,
  session,
  user,
} from './rows.js'

const moment = fc.integer({ min: 0, max: 5 }).map(at)
const momentOrNull = fc.option(moment)
const text = fc.string({ unit: 'grapheme' }).filter(text => !text.includes('\0'))
const textOrNull = fc.option(text)
const json = fc.dictionary(fc.string({ unit: anyCharacter }), fc.jsonValue(), { maxKeys: 3 })
const ownHash = `$scrypt$ln=12,r=8,p=1$${'A'.repeat(22)}$${'A'.repeat(43)}`
const id = fc.stringMatching(/^[a-c]-[0-9]{1,2}$/)

const identity = fc.record(
  {
    ...{ identity_id: id, id, user_id: id, identity_data: json, provider: fc.constantFrom('email', 'phone') },
    ...{ last_sign_in_at: moment, created_at: moment, updated_at: moment, email: text },
  },
  {
    requiredKeys: [
      'identity_id',
      'id',
      'user_id',
      'identity_data',
      'provider',
      'last_sign_in_at',
      'created_at',
      'updated_at',
    ],
  },
)

/** Rows that differ in all of these columns; nulls count as different. */
const rows = <Row extends object>(row: fc.Arbitrary<Row>, columns: readonly (keyof Row)[]) =>
  fc.uniqueArray(row, {
    maxLength: 4,
    comparator: (one, other) => columns.some(column => one[column] !== null && one[column] === other[column]),
  })

const some = <Row>(
  make: (changes: Partial<Row>) => Row,
  columns: { readonly [C in keyof Row]?: fc.Arbitrary<Row[C]> },
) => fc.record(columns as Record<string, fc.Arbitrary<unknown>>).map(changes => make(changes as Partial<Row>))

export const documents: fc.Arbitrary<StateDocument> = fc
  .record({
    users: rows(
      some(user, {
        ...{
          id,
          email: textOrNull.map(email => email?.toLowerCase() ?? null),
          phone: fc.option(fc.stringMatching(/^\d{1,15}$/)),
          encrypted_password: fc.option(fc.constant(ownHash)),
          banned_until: momentOrNull,
        },
        ...{ app_metadata: json, user_metadata: json, identities: fc.array(identity, { maxLength: 2 }) as never },
        ...{ is_anonymous: fc.boolean(), email_change_confirm_status: fc.constantFrom(0, 1), created_at: moment },
      }),
      ['id', 'email', 'phone'],
    ),
    sessions: rows(some(session, { id, user_id: id, created_at: moment, refreshed_at: momentOrNull }), ['id']),
    refresh_tokens: rows(some(refreshToken, { token: id, parent: textOrNull, revoked: fc.boolean() }), ['token']),
    one_time_tokens: rows(some(oneTimeToken, { id, token_hash: text, created_at: moment }), ['id']),
    flow_states: rows(some(flowState, { id, user_id: textOrNull, auth_code_issued_at: momentOrNull }), ['id']),
    api_keys: rows(some(apiKey, { id, digest: text, name: text, seeded: fc.boolean(), expires_at: momentOrNull }), [
      'id',
      'digest',
    ]),
    messages: rows(some(message, { id, subject: text, code: textOrNull, link: textOrNull, created_at: moment }), [
      'id',
    ]),
    resources: rows(some(resource, { id, scope: text, next_id: fc.nat() }), ['id']),
    resource_rows: rows(some(resourceRow, { id, owner: fc.option(id), row: json, position: fc.nat() }), [
      'id',
      'position',
    ]),
  })
  .map(documentOf)

/** The rows and columns in a fixed order, as text. A generated document may have them in any order. */
export function inOrder({ version, ...tables }: StateDocument) {
  const written = (row: object) =>
    JSON.stringify(Object.fromEntries(Object.entries(row).sort(([one], [other]) => (one < other ? -1 : 1))))
  const all = Object.entries(tables).map(([name, rows]) => [name, rows.map(written).sort()])
  return { version, ...Object.fromEntries(all) }
}
