/** Reads what the control API is asked behind the `?`: parameters of a form that is known. */
import type { Request } from 'express'
import { check } from '../check/check.js'
import { invalidRequest } from '../core/errors.js'
import type { Schema } from './control/part.js'

type ObjectSchema = Schema & { readonly entries: Readonly<Record<string, Schema>> }
type Checked<S extends Schema> = Extract<ReturnType<typeof check<S>>, { value: unknown }>['value']

/** Throws a 400 that names the first parameter that is not known, or wrong. */
export function queryIn<S extends ObjectSchema>(request: Request, schema: S): Checked<S> {
  const read = Object.entries(request.query).map(([name, written]) => {
    const entry = Object.hasOwn(schema.entries, name) ? schema.entries[name] : undefined
    return [name, entry ? readAs(entry, written) : written] as const
  })
  const checked = check(schema, Object.fromEntries(read), { firstOnly: true, whole: 'The query' })
  if ('value' in checked) return checked.value
  throw invalidRequest(checked.mistakes[0]?.sentence ?? 'The query is not of the form that is asked for.')
}

/** Everything arrives as text: what the schema takes is what was meant. */
function readAs(schema: Schema, written: unknown): unknown {
  if (typeof written !== 'string') return written
  const number = /^-?\d+(\.\d+)?$/.test(written) ? Number(written) : written
  return [written, number, booleans.get(written)].find(reading => 'value' in check(schema, reading)) ?? written
}

/** A name that stands alone, as in `?follow`, is a yes. */
const booleans = new Map([
  ['', true],
  ['true', true],
  ['false', false],
])
