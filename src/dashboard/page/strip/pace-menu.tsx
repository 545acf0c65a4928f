/** The rhythm of streams. */
import type { SituationJson } from '../../../http/situation.js'
import { control } from '../api.js'
import { Button } from '../widgets/button.jsx'
import { Field } from '../widgets/fields.jsx'
import { Form, useAction, useFields } from '../widgets/form.jsx'
import { FailureNote } from '../widgets/states.jsx'
import { duration } from '../wording.js'

type Pace = SituationJson['pace']

const presets: Readonly<Record<string, Pace>> = {
  instant: { firstTokenMs: 0, tokensPerSecond: 0, jitter: 0 },
  fast: { firstTokenMs: 200, tokensPerSecond: 120, jitter: 0.2 },
  'like live': { firstTokenMs: 600, tokensPerSecond: 40, jitter: 0.3 },
  slow: { firstTokenMs: 3000, tokensPerSecond: 5, jitter: 0.3 },
}

/** `fast`, or `200 ms, 50/s`. */
export function paceInWords(pace: Pace): string {
  const [name] = Object.entries(presets).find(([, one]) => JSON.stringify(one) === JSON.stringify(pace)) ?? []
  return name ?? numbersInWords(pace)
}

const numbersInWords = ({ firstTokenMs, tokensPerSecond }: Pace) =>
  `${duration(firstTokenMs)}, ${tokensPerSecond === 0 ? 'at once' : `${tokensPerSecond}/s`}`

export function PaceMenu({ pace }: { readonly pace: Pace }) {
  const { failure, run } = useAction()
  const { values, field } = useFields({
    firstTokenMs: String(pace.firstTokenMs),
    tokensPerSecond: String(pace.tokensPerSecond),
  })
  const change = (body: Partial<Pace>) => control('PUT /pace', { body })
  const typed = () =>
    change({ firstTokenMs: Number(values.firstTokenMs), tokensPerSecond: Number(values.tokensPerSecond) })
  return (
    <>
      <ul class="choices stack">
        {Object.entries(presets).map(([name, preset]) => (
          <li key={name}>
            <Button
              small
              aria-pressed={paceInWords(pace) === name}
              onClick={() => run(() => change(preset), `Streams are ${name} now.`)}
            >
              {name}
            </Button>
            <p class="quiet small">
              {preset.tokensPerSecond === 0 ? 'No pauses.' : `First token after ${numbersInWords(preset)}.`}
            </p>
          </li>
        ))}
      </ul>
      <FailureNote failure={failure} />
      <Form send="Set" small tone="plain" onSend={typed} said="The pace has changed.">
        <div class="fields">
          <Field label="First token, ms" {...field('firstTokenMs')} />
          <Field label="Tokens a second" {...field('tokensPerSecond')} />
        </div>
      </Form>
    </>
  )
}
