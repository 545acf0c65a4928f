/** Checks the initial rows, and determines their ids and owners. */
import { hash } from 'node:crypto'
import { AN_OBJECT, type Mistake, mustBe, type Path } from '../check/check.js'
import { isObject, isTooDeep } from '../core/json.js'
import type { Json } from '../core/state.js'
import { idText, parentOf, type SeedRow, valueIn } from './resource.js'
import type { RowCheck, RowFields } from './row-schema.js'

interface SeedForm extends RowFields {
  readonly check: RowCheck | undefined
  readonly userIdOf: (email: string) => string | undefined
}

interface Seeds {
  readonly seeds: readonly SeedRow[]
  readonly mistakes: readonly Mistake[]
  /** Whether there are rows and all ids are whole numbers. */
  readonly haveIntegerIds: boolean
}

/** Rows with more levels are refused, because they could not be sent to an app. */
export const MOST_ROW_LEVELS = 100

/** At most this many mistakes are reported. */
const MOST_MISTAKES = 20

/** A file without data has no rows. */
export function readSeeds(data: unknown, form: SeedForm): Seeds {
  const written = data ?? []
  if (!Array.isArray(written))
    return { seeds: [], mistakes: [{ path: [], sentence: 'The data must be a list of rows.' }], haveIntegerIds: false }
  const seeds: SeedRow[] = []
  const mistakes: Mistake[] = []
  const used = new Map<string, number>()
  for (const [i, row] of written.entries()) {
    if (mistakes.length >= MOST_MISTAKES) break
    const seed = seedOf(row, form)
    if ('sentence' in seed) mistakes.push({ path: [i, ...seed.path], sentence: `Row ${i + 1}: ${seed.sentence}` })
    else {
      const before = used.get(seed.id)
      if (before === undefined) seeds.push(seed)
      else mistakes.push({ path: [i], sentence: `Row ${i + 1} has the same id as row ${before + 1}: ${seed.id}.` })
      used.set(seed.id, i)
    }
  }
  const haveIntegerIds = seeds.length > 0 && seeds.every(({ row }) => Number.isSafeInteger(valueIn(row, form.id.field)))
  return { seeds, mistakes, haveIntegerIds }
}

function seedOf(row: unknown, form: SeedForm): SeedRow | Mistake {
  const mistakeAt = (sentence: string, path: Path = []) => ({ path, sentence })
  if (!isObject(row)) return mistakeAt(`it ${mustBe(AN_OBJECT)}.`)
  if (isTooDeep(row, MOST_ROW_LEVELS)) return mistakeAt(`it has more than ${MOST_ROW_LEVELS} levels.`)
  const own = row as Json
  const id = idText(valueIn(own, form.id.field))
  if (id === undefined)
    return mistakeAt(`${form.id.field.join('.')} must be a string or a number that identifies the row.`)
  const missing = form.params.find(name => idText(valueIn(own, [name])) === undefined)
  if (missing !== undefined) return mistakeAt(`${missing} is missing. It is a parameter of the path.`)
  const { owner, ownerEmail, problem } = ownerOf(own, form)
  if (problem !== undefined) return mistakeAt(problem, form.owner === undefined ? [] : [form.owner])
  const complete = form.owner === undefined ? own : { ...own, [form.owner]: owner }
  const mistake = form.check?.(complete)
  if (mistake) return mistake
  const parent = parentOf(form.params, complete)
  const digest = hash('sha256', JSON.stringify([owner, complete]), 'hex')
  return { id, owner, ownerEmail, parent, row: complete, digest }
}

/** The owner of a row: an id, or the email address of a configured user. */
function ownerOf(
  row: Json,
  { owner: field, userIdOf }: SeedForm,
): { owner: string | null; ownerEmail?: string; problem?: string } {
  if (field === undefined) return { owner: null }
  const written = valueIn(row, [field])
  if (written === null) return { owner: null }
  if (typeof written !== 'string' || written === '')
    return {
      owner: null,
      problem: `${field} must be the email address or the id of a user, or null for a row that only the service key sees.`,
    }
  if (!written.includes('@')) return { owner: written }
  const id = userIdOf(written)
  return id === undefined
    ? { owner: null, problem: `${field}: ${written} is not the email address of a user in the option users.` }
    : { owner: id, ownerEmail: written.toLowerCase() }
}
