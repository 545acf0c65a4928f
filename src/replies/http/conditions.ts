/** Compiles the conditions of a rule for a path. */
import { type Access, defaultAccess } from '../../core/exchange.js'
import { fieldAt, fieldPath } from '../conditions/field-path.js'
import { compileWith, optional, simple } from '../conditions/shared.js'
import { onText } from '../conditions/text.js'
import { type ValueTest, valueTest } from '../conditions/whole.js'
import type { Condition } from '../dialect.js'
import type { HttpRule, HttpWhen } from './form.js'
import type { HttpInput } from './input.js'
import { isDocumented, paramsIn, type Route, routeOf } from './route.js'

/** Documented endpoints check the caller themselves. */
export const accessOf = ({ on, access }: HttpRule): Access =>
  access ?? (isDocumented(on) ? 'anyone' : defaultAccess(on.slice(on.indexOf(' ') + 1)))

/** Access is a condition too, since the rules of one path can differ in it. */
export function conditionsOf(rule: HttpRule): readonly Condition<HttpInput>[] {
  const access = accessOf(rule)
  const accessCondition = {
    holds: ({ caller }: HttpInput) => access === 'anyone' || access.some(kind => kind === caller.kind),
    mismatch: () => `access is limited to ${[access].flat().join(', ')}`,
  }
  const route = routeOf(rule.on)
  return [accessCondition, ...compileWith<HttpInput, HttpWhen>(rule.when ?? {}, when => httpConditions(when, route))]
}

function httpConditions({ params, query, body, text }: HttpWhen, route: Route): readonly Condition<HttpInput>[] {
  const each = <T>(
    wanted: Readonly<Record<string, T>> | undefined,
    make: (name: string, wanted: T) => Condition<HttpInput>,
  ) => Object.entries(wanted ?? {}).map(([name, value]) => make(name, value))
  return [
    ...each(params, (name, wanted) =>
      simple(`params.${name}`, orAsText(valueTest(wanted)), ({ steps }) => paramsIn(route, steps)[name]),
    ),
    ...each(query, (name, wanted) =>
      simple(`query.${name}`, onAnyOf(valueTest(wanted)), input => input.query.getAll(name)),
    ),
    ...each(body, (written, wanted) => {
      const path = fieldPath(written) ?? []
      const test = valueTest(wanted)
      const loose = orAsText(test)
      return {
        // Forms have no numbers, only digits as text.
        holds: ({ body, headers }) => (isForm(headers) ? loose : test).holds(fieldAt(body, path)),
        mismatch: () => `body.${written} ${test.mismatch}`,
      }
    }),
    ...optional(text, wanted => onText('text', wanted)),
  ]
}

const isForm = ({ 'content-type': type }: HttpInput['headers']) =>
  type !== undefined && /^\s*(multipart\/form-data|application\/x-www-form-urlencoded)/i.test(type)

/** Also holds for the text of an expected number or boolean. */
const orAsText = (test: ValueTest): ValueTest => ({
  ...test,
  holds: value => test.holds(value) || (typeof value === 'string' && readings(value).some(test.holds)),
})

function readings(text: string): readonly unknown[] {
  if (text === 'true' || text === 'false') return [text === 'true']
  return /^-?\d+(\.\d+)?$/.test(text) ? [Number(text)] : []
}

/** Holds if it does for one of several values, or for a missing one if there are none. */
function onAnyOf(test: ValueTest): ValueTest {
  const loose = orAsText(test)
  return {
    ...test,
    holds: values => {
      const all = values as readonly string[]
      return all.length === 0 ? test.holds(undefined) : all.some(value => loose.holds(value))
    },
  }
}
