/** Faults for the next requests, and faults for random ones. */
import type { Fault, FaultCallInput, RandomFault } from '../../../core/fault.js'
import { control } from '../api.js'
import { announce } from '../widgets/announcer.jsx'
import { Button } from '../widgets/button.jsx'
import { Disclosure } from '../widgets/disclosure.jsx'
import { useAction } from '../widgets/form.jsx'
import { FailureNote } from '../widgets/states.jsx'
import { capitalized, counted } from '../wording.js'
import { labelOf } from './fault-fields.jsx'
import { FaultForm } from './fault-form.jsx'
import { type ControlProps, ControlSection, focusGroupHeading } from './section.jsx'

const presets: readonly (readonly [name: string, fault: Fault])[] = [
  ['429, Retry-After 2 s', { status: 429, retryAfter: 2 }],
  ['500', { status: 500 }],
  ['Slow first token, 5 s', { delayMs: 5000 }],
  ['Stream cut after 3 chunks', { cutAfterChunks: 3 }],
]

const REMOVED = 'The fault was removed.'

/** The changes of faults. Each rejects if it fails. */
function faultChanges({ controls: { random }, reload }: ControlProps) {
  const settle = (work: Promise<unknown>, said: string) => work.then(() => announce(said)).finally(reload)
  const setRandom = (faults: readonly object[], said: string) =>
    settle(control('PUT /faults/random', { body: { random: faults as readonly RandomFault[] } }), said)
  return {
    addNext: (call: object) =>
      settle(control('POST /faults', { body: call as FaultCallInput }), 'The fault was added.'),
    addRandom: (fault: object) => setRandom([...random.inForce, fault], 'Random requests fail from now on.'),
    removeNext: (id: string) => settle(control('DELETE /faults/{id}', { id }), REMOVED),
    removeRandom: (index: number) => setRandom(random.inForce.toSpliced(index, 1), REMOVED),
    clear: () => settle(control('DELETE /faults'), 'All pending faults were removed.'),
  }
}

export function FaultsSection({ controls, reload }: ControlProps) {
  const { addNext, addRandom, removeNext, removeRandom, clear } = faultChanges({ controls, reload })
  const { failure, run } = useAction()
  /** For buttons that remove faults. They disappear with the faults, so the focus moves to the heading. */
  const remove = (work: () => Promise<unknown>) => (button: HTMLElement) => void focusGroupHeading(button, run(work))
  return (
    <ControlSection
      of="faults"
      lead="A fault makes matching requests fail. Requests with a rejected credential do not count."
      restore={() => control('DELETE /faults/random')}
      controls={controls}
      reload={reload}
    >
      <fieldset class="row">
        <legend>Next request</legend>
        {presets.map(([name, fault]) => (
          <Button small key={name} onClick={() => run(() => addNext({ fault }))}>
            {name}
          </Button>
        ))}
      </fieldset>
      <Disclosure summary="Another fault">
        <FaultForm onNext={addNext} onRandom={addRandom} />
      </Disclosure>
      <FailureNote failure={failure} />
      <FaultList
        title="Pending, in the order in which they are tried"
        none="No pending faults."
        faults={controls.waiting.map(({ id, fault, times, ...target }) => ({
          key: id,
          words: inWords(fault),
          target: `${times === 1 ? 'the next request' : `the next ${times} requests`}: ${targetInWords(target)}`,
          onRemove: remove(() => removeNext(id)),
        }))}
        onClear={remove(clear)}
      />
      <FaultList
        title="Random"
        faults={controls.random.inForce.map(({ path, chance, ...fault }, index) => ({
          key: String(index),
          words: inWords(fault),
          target: `${percent(chance)} of requests to ${path}`,
          onRemove: remove(() => removeRandom(index)),
        }))}
      />
    </ControlSection>
  )
}

/** `5 %`, without floating-point noise. */
const percent = (chance: number) => `${Number((chance * 100).toFixed(4))} %`

/** `Status 503, retry after 2 s` or `Cut after 3 chunks`, with the labels of the form. */
function inWords(fault: Fault): string {
  const parts = Object.entries(fault).map(([key, value]) => {
    const label = labelOf(key).toLowerCase()
    if (value === true) return label
    if (key === 'chance') return `chance ${percent(Number(value))}`
    const [, start, unit] = /^(.+ after) (chunks|bytes)$/.exec(label) ?? []
    if (unit) return `${start} ${counted(Number(value), unit.slice(0, -1))}`
    return `${label} ${value}${key === 'retryAfter' ? ' s' : key.endsWith('Ms') ? ' ms' : ''}`
  })
  return capitalized(parts.join(', '))
}

type Target = Pick<ControlProps['controls']['waiting'][number], 'method' | 'path' | 'scope' | 'when'>

/** The requests that a fault applies to: `POST /v1/*, model gpt-4o`. */
function targetInWords({ method, path, scope, when = {} }: Target): string {
  const conditions = Object.entries(when).map(([name, value]) => `${name} ${conditionInWords(value)}`)
  const endpoint = [method, path].filter(Boolean).join(' ')
  return [
    endpoint || (conditions.length > 0 ? 'chat completions' : 'any endpoint'),
    ...conditions,
    ...(scope ? [`scope ${scope}`] : []),
  ].join(', ')
}

function conditionInWords(condition: unknown): string {
  if (typeof condition === 'string') return condition
  const { contains, ...others } = (condition ?? {}) as { readonly contains?: unknown }
  const isPart = typeof contains === 'string' && Object.keys(others).length === 0
  return isPart ? `contains “${contains}”` : JSON.stringify(condition)
}

interface FaultListProps {
  readonly title: string
  readonly none?: string
  readonly faults: readonly {
    readonly key: string
    readonly words: string
    readonly target: string
    readonly onRemove: (button: HTMLElement) => void
  }[]
  readonly onClear?: (button: HTMLElement) => void
}

function FaultList({ title, none, faults, onClear }: FaultListProps) {
  if (faults.length === 0) return none === undefined ? null : <p class="quiet">{none}</p>
  return (
    <div class="stack">
      <div class="row spread">
        <h3>{title}</h3>
        {onClear && faults.length > 1 && (
          <Button small onClick={({ currentTarget }) => onClear(currentTarget)}>
            Remove all
          </Button>
        )}
      </div>
      <ol class="fault-list lined">
        {faults.map(({ key, words, target, onRemove }) => (
          <li key={key}>
            <strong>{words}</strong>
            <span class="quiet">{target}</span>
            <Button
              small
              aria-label={`Remove: ${words}, ${target}`}
              onClick={({ currentTarget }) => onRemove(currentTarget)}
            >
              Remove
            </Button>
          </li>
        ))}
      </ol>
    </div>
  )
}
