/** Operations on the situation: what decides the next answer, and taking a change back. */
import { arrayOf, closed, moment, optionalMember, orNull, text, wholeNumber, word } from '../check/forms.js'
import { quotedStart, refusal } from '../core/errors.js'
import { operation, type ValueOf } from '../core/operation.js'

export const subjects = [
  'mode',
  'faults',
  'random faults',
  'holds',
  'limits',
  'pace',
  'clock',
  'rules',
  'answer',
  'repair',
] as const

export const actors = ['dashboard', 'test', 'control API', 'configuration'] as const

const item = closed({
  what: word(subjects),
  /** In words: `replay`, `the next request: status=503`. */
  says: text,
  /** Who made it so, and when; absent if it is as configured. */
  by: optionalMember(word(actors)),
  at: optionalMember(moment),
  /** The id that takes it back to what is configured; `null` if it is as configured. */
  undo: orNull(text),
})
export type SituationItem = ValueOf<typeof item>

/** A mistake in a file that was changed. What was valid before is still in use. */
const problem = closed({
  /** The file, relative to the configuration, or what else is wrong. */
  origin: text,
  line: optionalMember(wholeNumber),
  column: optionalMember(wholeNumber),
  sentence: text,
})

const situation = closed({
  /** What decides the next answer: all that differs from the configuration, and of that what is not as usual. */
  data: arrayOf(item),
  /** Why a changed configuration or rule file is not in use; empty if they are. */
  problems: arrayOf(problem),
  /** The rules or the configuration that were saved last, and when; GET /replies/changed says what that has changed. */
  saved: optionalMember(closed({ files: arrayOf(text), at: moment })),
})
export type SituationJson = ValueOf<typeof situation>

interface SituationParts {
  readonly situation: {
    current(): SituationJson
    /** Returns whether there was such a change. */
    undo(id: string): boolean | Promise<boolean>
  }
}

export const situationOperations = ({ situation: of }: SituationParts) => ({
  getSituation: operation({
    at: 'GET /situation',
    does: 'Lists what decides the next answer, and mistakes in files. Each has words, who changed it and the id that takes it back; the mistakes are in files that are therefore not in use.',
    returns: situation,
    run: () => of.current(),
  }),
  undoChange: operation({
    at: 'DELETE /situation/{id}',
    does: 'Takes one change back to what is configured.',
    async run({ id }) {
      if (!(await of.undo(id))) throw noSuchChange(id)
    },
  }),
})

const noSuchChange = (id: string) =>
  refusal(404, 'no_such_change', `There is no change ${quotedStart(id, 60)} to take back. GET /situation lists them.`)
