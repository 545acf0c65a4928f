/** What is to go wrong: next, and by chance. */
import type { FaultCallInput } from '../../../core/fault.js'
import { announce } from '../widgets/announcer.jsx'
import { Notice } from '../widgets/notice.jsx'
import { useWorking } from '../widgets/working.js'
import { ChanceFaults } from './chance-faults.jsx'
import { FaultForm } from './fault-form.jsx'
import type { ControlProps } from './parts.js'
import { Section } from './section.jsx'
import { WaitingFaults } from './waiting-faults.jsx'

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
  const setRandom = (faults: readonly object[], said: string) => settle(client.setRandom(faults), said)

  return (
    <Section
      title="Faults"
      lead="The next request fails as you say. A request that is refused for its credential is not counted."
      state={{ isChanged: random.isChanged, restore: () => client.restore('faults/random').finally(reload) }}
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
          onChance={fault => setRandom([...random.inForce, fault], 'The fault befalls requests by chance.')}
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
