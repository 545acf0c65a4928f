/** The user's keys. */
import type { KeyJson } from '../../wire.js'
import { Badge, type Tone } from '../widgets/badge.jsx'
import { Moment } from '../widgets/moment.jsx'

const tones: Record<KeyJson['state'], Tone> = { active: 'good', expired: 'care', revoked: 'plain' }
const words: Record<KeyJson['state'], string> = { active: 'Active', expired: 'Expired', revoked: 'Revoked' }

interface Props {
  readonly keys: readonly KeyJson[]
  readonly onRoll: (key: KeyJson) => void
  readonly onRevoke: (key: KeyJson) => void
}

export function KeyTable({ keys, ...actions }: Props) {
  return (
    <table class="table table-stacking">
      <caption class="unseen">Your API keys</caption>
      <thead>
        <tr>
          <th scope="col">Name</th>
          <th scope="col">State</th>
          <th scope="col">Created</th>
          <th scope="col">Last used</th>
          <th scope="col">Expires</th>
          <th scope="col">
            <span class="unseen">Actions</span>
          </th>
        </tr>
      </thead>
      <tbody>
        {keys.map(key => (
          <KeyRow key={key.id} of={key} {...actions} />
        ))}
      </tbody>
    </table>
  )
}

function KeyRow({ of: key, onRoll, onRevoke }: { readonly of: KeyJson } & Omit<Props, 'keys'>) {
  const { name, start, state, created_at, last_used_at, expires_at, revoked_at } = key
  return (
    <tr class={state === 'active' ? undefined : 'row-dim'}>
      <th scope="row">
        {name}
        <code class="key-start">{start}…</code>
      </th>
      <td>
        <Badge tone={tones[state]}>{words[state]}</Badge>
      </td>
      <td data-label="Created">
        <Moment at={created_at} />
      </td>
      <td data-label="Last used">{last_used_at ? <Moment at={last_used_at} /> : 'never'}</td>
      <td data-label="Expires">
        {revoked_at ? (
          <>
            ended <Moment at={revoked_at} />
          </>
        ) : expires_at ? (
          <Moment at={expires_at} />
        ) : (
          'never'
        )}
      </td>
      <td class="row-actions">
        {state !== 'revoked' && (
          <span class="row-buttons">
            <button type="button" class="button button-small" aria-label={`Roll ${name}`} onClick={() => onRoll(key)}>
              Roll
            </button>
            {state === 'active' && (
              <button
                type="button"
                class="button button-small button-warns"
                aria-label={`Revoke ${name}`}
                onClick={() => onRevoke(key)}
              >
                Revoke
              </button>
            )}
          </span>
        )}
      </td>
    </tr>
  )
}
