/** Where answers come from. */
import type { SituationJson } from '../../../http/situation.js'
import { control } from '../api.js'
import { Button } from '../widgets/button.jsx'
import { useAction } from '../widgets/form.jsx'
import { useResource } from '../widgets/resource.js'
import { FailureNote } from '../widgets/states.jsx'

const meanings = {
  emulate: 'Standin answers by itself.',
  proxy: 'The live platform answers.',
  record: 'The live platform answers, and the answers are recorded.',
  replay: 'Recordings answer.',
} as const

type Mode = SituationJson['mode']['mode']

export function ModeMenu({ mode: { mode, modes } }: { readonly mode: SituationJson['mode'] }) {
  const { value } = useResource(signal => control('GET /mode/choices', { signal }), [])
  const { failure, run } = useAction()
  const change = (to: Mode) => run(() => control('PUT /mode', { body: { mode: to, modes } }), `The mode is now ${to}.`)
  return (
    <>
      <ul class="choices stack">
        {(Object.keys(meanings) as Mode[]).map(one => {
          const reason = value?.data.find(choice => choice.mode === one)?.reason
          return (
            <li key={one}>
              <Button
                small
                aria-pressed={one === mode}
                aria-disabled={reason !== undefined}
                onClick={() => reason ?? (one === mode || change(one))}
              >
                {one}
              </Button>
              <p class="quiet small">{reason ?? meanings[one]}</p>
            </li>
          )
        })}
      </ul>
      {Object.entries(modes).map(([endpoint, own]) => (
        <p key={endpoint} class="quiet small">
          <code>{endpoint}</code>: {own}
        </p>
      ))}
      <FailureNote failure={failure} />
    </>
  )
}
