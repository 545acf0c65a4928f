/** Faults for the next requests, and random ones. */
import type { FaultCallInput, RandomFault } from '../../core/fault.js'
import { announce } from '../widgets/announcer.jsx'
import { useWorking } from '../widgets/form.jsx'
import { Notice } from '../widgets/states.jsx'
import type { WaitingFaultJson } from './controls-client.js'
import { FaultForm } from './fault-form.jsx'
import { faultInWords, meantInWords } from './fault-kinds.js'
import { type ControlProps, goOnInGroup, Section } from './section.jsx'

interface Preset {
  readonly name: string
  readonly fault: FaultCallInput['fault']
}

const presets: readonly Preset[] = [
  { name: '429, Retry-After 2 s', fault: { status: 429, retryAfter: 2 } },
  { name: '500', fault: { status: 500 } },
  { name: 'Slow first token, 5 s', fault: { delayMs: 5000 } },
  { name: 'Stream cut after 3 chunks', fault: { cutAfterChunks: 3 } },
]

export function FaultsSection({ controls: { waiting, random }, client, reload }: ControlProps) {
  const { failure, run } = useWorking()

  async function settle(work: Promise<void>, said: string): Promise<void> {
    try {
      await work
      announce(said)
    } finally {
      reload()
    }
  }

  const next = (call: object) => settle(client.addFault(call as FaultCallInput), 'The fault waits for a request.')
  const setRandom = (faults: readonly object[], said: string) =>
    settle(client.setRandom(faults as readonly RandomFault[]), said)

  return (
    <Section
      title="Faults"
      lead="The next request fails as you say. A request that is refused for its credential is not counted."
      state={{ isChanged: random.isChanged, restore: () => client.restoreRandom().finally(reload) }}
    >
      <fieldset class="presets">
        <legend class="presets-legend">Next request</legend>
        {presets.map(({ name, fault }) => (
          <button key={name} type="button" class="button button-small" onClick={() => run(() => next({ fault }))}>
            {name}
          </button>
        ))}
      </fieldset>
      {failure && <Notice tone="danger">{failure.message}</Notice>}
      <details class="fold more">
        <summary>Another fault</summary>
        <FaultForm
          onNext={next}
          onChance={fault => setRandom([...random.inForce, fault], 'The fault hits requests at random.')}
        />
      </details>
      <WaitingFaults
        waiting={waiting}
        onRemove={id => settle(client.removeFault(id), 'The fault is removed.')}
        onClear={() => settle(client.clearFaults(), 'No fault waits.')}
      />
      <ChanceFaults
        faults={random.inForce}
        onRemove={index =>
          setRandom(
            random.inForce.filter((_fault, other) => other !== index),
            'The fault is removed.',
          )
        }
      />
    </Section>
  )
}

/** `5 %`, without rounding errors from the multiplication. */
const percent = (chance: number) => `${Number((chance * 100).toFixed(4))} %`

interface Props {
  readonly faults: readonly RandomFault[]
  readonly onRemove: (index: number) => Promise<void>
}

/** Random faults. */
function ChanceFaults({ faults, onRemove }: Props) {
  const { failure, run } = useWorking()
  if (faults.length === 0) return null
  return (
    <div class="faults">
      <h3>By chance</h3>
      {failure && <Notice tone="danger">{failure.message}</Notice>}
      <ul class="fault-list">
        {faults.map(({ path, chance, ...fault }, index) => {
          const words = faultInWords(fault)
          return (
            <li key={`${index} ${words}`}>
              <span class="fault-words">{words}</span>
              <span class="quiet">
                {percent(chance)} of requests to {path}
              </span>
              <button
                type="button"
                class="button button-small"
                aria-label={`Remove: ${words}, by chance`}
                onClick={({ currentTarget }) =>
                  goOnInGroup(
                    currentTarget,
                    run(() => onRemove(index)),
                  )
                }
              >
                Remove
              </button>
            </li>
          )
        })}
      </ul>
    </div>
  )
}

interface WaitingFaultsProps {
  readonly waiting: readonly WaitingFaultJson[]
  readonly onRemove: (id: string) => Promise<void>
  readonly onClear: () => Promise<void>
}

/** Faults that wait for a request. */
function WaitingFaults({ waiting, onRemove, onClear }: WaitingFaultsProps) {
  const { failure, run } = useWorking()
  if (waiting.length === 0) return <p class="quiet">No fault waits for a request.</p>
  return (
    <div class="faults">
      <div class="faults-head">
        <h3>Waiting, the first in line first</h3>
        {waiting.length > 1 && (
          <button
            type="button"
            class="button button-small"
            onClick={({ currentTarget }) => goOnInGroup(currentTarget, run(onClear))}
          >
            Remove all
          </button>
        )}
      </div>
      {failure && <Notice tone="danger">{failure.message}</Notice>}
      <ol class="fault-list">
        {waiting.map(({ id, fault, times, ...meant }) => {
          const words = faultInWords(fault)
          return (
            <li key={id}>
              <span class="fault-words">{words}</span>
              <span class="quiet">
                {times === 1 ? 'the next request' : `the next ${times} requests`}: {meantInWords(meant)}
                {fault.chance !== undefined && `, at ${percent(fault.chance)}`}
              </span>
              <button
                type="button"
                class="button button-small"
                aria-label={`Remove: ${words}`}
                onClick={({ currentTarget }) =>
                  goOnInGroup(
                    currentTarget,
                    run(() => onRemove(id)),
                  )
                }
              >
                Remove
              </button>
            </li>
          )
        })}
      </ol>
    </div>
  )
}
