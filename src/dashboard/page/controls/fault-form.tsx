/** A form for any fault, made from the schema of faults: what goes wrong, and for which requests. */
import { useState } from 'preact/hooks'
import {
  effects,
  type FaultKey,
  faultCallSchema,
  faultEntries,
  randomFaultSchema,
  requiredCompanions,
} from '../../../core/fault.js'
import { useConfig } from '../config.jsx'
import { Field, RadioGroup, Select } from '../widgets/fields.jsx'
import { Form } from '../widgets/form.jsx'
import { labelOf, OptionField, optionOf, problemsIn } from './fault-fields.jsx'

interface Props {
  readonly onNext: (call: object) => Promise<unknown>
  readonly onRandom: (fault: object) => Promise<unknown>
}

type Values = Readonly<Record<string, string>>

/** Initial values of fields that start neither empty nor with their first choice. */
const samples: Values = {
  status: '503',
  delayMs: '3000',
  cutAfterChunks: '3',
  cutAfterBytes: '100',
  endAfterChunks: '3',
  stallAfterChunks: '3',
  errorAfterChunks: '3',
  malformedChunk: '2',
  contentType: 'text/html',
  times: '1',
  chance: '0.05',
}

const forms = Object.fromEntries(Object.entries(faultEntries).map(([key, schema]) => [key, optionOf(key, schema)]))

/** Whether an effect needs no value. */
const isFlag = (effect: FaultKey) => forms[effect]?.isFlag === true

/** The options of an effect. Most effects can be delayed. */
function fieldsFor(effect: FaultKey): readonly FaultKey[] {
  const beside = requiredCompanions.filter(([, others]) => others.includes(effect)).map(([key]) => key)
  const canBeLate = effect !== 'delayMs' && effect !== 'hang'
  return [...(isFlag(effect) ? [] : [effect]), ...beside, ...(canBeLate ? ['delayMs' as const] : [])]
}

function typed(key: string, text: string): unknown {
  const kind = forms[key]?.kind
  return kind === 'number' || key === 'times' || key === 'chance' ? Number(text) : text.trim()
}

/** The values of the fields that are not empty. */
const filled = (names: readonly string[], textOf: TextOf) =>
  Object.fromEntries(names.flatMap(name => (textOf(name).trim() === '' ? [] : [[name, typed(name, textOf(name))]])))

const { times, path, method } = faultCallSchema.entries
const next = { times, path, method }
const random = { chance: randomFaultSchema.entries.chance, path: randomFaultSchema.entries.path }

const which = [
  { value: false, label: 'The next matching requests' },
  { value: true, label: 'Random matching requests' },
]

const targetsOf = (isRandom: boolean) => (isRandom ? random : next)

type TextOf = (name: string) => string

/** What the user has entered, and what is wrong with it. */
function useDraft() {
  const [effect, setEffect] = useState<FaultKey>('status')
  const [values, setValues] = useState<Values>({})
  const [isRandom, setRandom] = useState(false)
  const [problems, setProblems] = useState<ReadonlyMap<string, string>>(new Map())
  const textOf: TextOf = name => values[name] ?? (name === 'delayMs' && effect !== 'delayMs' ? '' : firstOf(name))
  /** The props that bind a field to its value. */
  const bind = (name: string) => ({
    id: idOf(name),
    value: textOf(name),
    error: problems.get(name),
    onChange: (value: string) => setValues(before => ({ ...before, [name]: value })),
  })
  const choose = (chosen: FaultKey) => {
    setEffect(chosen)
    setProblems(new Map())
  }
  return { effect, choose, isRandom, setRandom, textOf, bind, setProblems }
}

type Draft = ReturnType<typeof useDraft>

export function FaultForm({ onNext, onRandom }: Props) {
  const draft = useDraft()
  const { effect, isRandom } = draft
  const fields = fieldsFor(effect)
  const targets = targetsOf(isRandom)

  async function send(): Promise<void> {
    const call = callFrom(draft)
    const problems = problemsIn(isRandom ? randomFaultSchema : faultCallSchema, call)
    draft.setProblems(problems)
    const [first] = problems.keys()
    const isShown = first !== undefined && [...fields, ...Object.keys(targets)].includes(first)
    if (isShown) document.getElementById(idOf(first))?.focus()
    else await (isRandom ? onRandom(call) : onNext(call))
  }

  const field = (name: string, schema: Parameters<typeof optionOf>[1], optional: boolean) => (
    <OptionField key={`${effect} ${name}`} option={optionOf(name, schema)} optional={optional} {...draft.bind(name)} />
  )
  return (
    <Form send="Add fault" onSend={send}>
      <div class="fields">
        <Select
          label="What goes wrong"
          value={effect}
          options={effects.map(key => [key, labelOf(key)] as const)}
          // Any other effect has a field of its own with the same hint.
          hint={isFlag(effect) && forms[effect]?.hint}
          onChange={draft.choose}
        />
        {fields.map(key => field(key, faultEntries[key], key !== effect))}
      </div>
      <RadioGroup label="Which requests" value={isRandom} onChange={draft.setRandom} options={which} />
      <div class="fields">
        {Object.entries(targets).map(([name, schema]) => field(name, schema, name === 'path' || name === 'method'))}
        {!isRandom && <Conditions bind={draft.bind} />}
      </div>
    </Form>
  )
}

/** Which chat completions a fault for the next requests applies to. */
function Conditions({ bind }: Pick<Draft, 'bind'>) {
  const { models } = useConfig()
  return (
    <>
      <Select label="Model" {...bind('model')} options={[['', 'any'], ...models]} />
      <Field
        label="The user says"
        {...bind('user')}
        required={false}
        placeholder="anything"
        hint="Part of the last user message."
      />
    </>
  )
}

/** The body of the call that adds the fault. */
function callFrom({ effect, isRandom, textOf }: Draft): object {
  const fault = { ...(isFlag(effect) && { [effect]: true }), ...filled(fieldsFor(effect), textOf) }
  const target = filled(Object.keys(targetsOf(isRandom)), textOf)
  return isRandom ? { ...fault, ...target } : { fault, ...target, ...whenOf(textOf) }
}

function whenOf(textOf: TextOf): object {
  const [model, user] = [textOf('model'), textOf('user').trim()]
  if (model === '' && user === '') return {}
  return { when: { ...(model !== '' && { model }), ...(user !== '' && { user: { contains: user } }) } }
}

const firstOf = (name: string) => samples[name] ?? forms[name]?.choices[0] ?? ''

const idOf = (name: string) => `fault-${name}`
