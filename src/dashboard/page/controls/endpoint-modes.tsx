/** Single endpoints with modes of their own. */
import { useConfig } from '../config.jsx'
import type { Mode, ModesJson } from './controls-client.js'
import { modeOrder, modeWords } from './modes.js'

/** What is chosen for an endpoint that goes with all the others. */
const WITH_ALL = ''

interface Props {
  readonly current: ModesJson
  readonly reasonOf: (mode: Mode) => string | undefined
  readonly onChoose: (to: ModesJson, mode: Mode) => void
}

export function EndpointModes({ current, reasonOf, onChoose }: Props) {
  const documented = useConfig().endpoints.map(({ method, path }) => `${method} ${path}`)
  const { mode, modes } = current
  // In an order that stays while modes change; other patterns come after, as they are tried.
  const patterns = [...new Set([...documented, ...Object.keys(modes)])]

  function choose(pattern: string, chosen: string): void {
    const { [pattern]: before, ...others } = modes
    if (chosen === WITH_ALL) return onChoose({ mode, modes: others }, 'emulate')
    const own = chosen as Mode
    // The first that fits holds: a new one stands before patterns that would hide it, and one that is there stays in its place.
    onChoose({ mode, modes: before === undefined ? { [pattern]: own, ...others } : { ...modes, [pattern]: own } }, own)
  }

  return (
    <table class="table endpoint-modes">
      <caption class="unseen">Modes of single endpoints</caption>
      <thead>
        <tr>
          <th scope="col">Endpoint</th>
          <th scope="col">Mode</th>
        </tr>
      </thead>
      <tbody>
        {patterns.map(pattern => {
          const own = modes[pattern]
          return (
            <tr key={pattern}>
              <th scope="row">
                <code>{pattern}</code>
              </th>
              <td>
                <select
                  class={own === undefined ? 'select select-usual' : 'select'}
                  aria-label={`Mode of ${pattern}`}
                  value={own ?? WITH_ALL}
                  onChange={({ currentTarget }) => {
                    const chosen = currentTarget.value
                    // It is chosen when the server says so.
                    currentTarget.value = own ?? WITH_ALL
                    choose(pattern, chosen)
                  }}
                >
                  <option value={WITH_ALL}>With all others</option>
                  {modeOrder.map(mode => (
                    <option key={mode} value={mode} disabled={reasonOf(mode) !== undefined}>
                      {modeWords[mode].name}
                    </option>
                  ))}
                </select>
              </td>
            </tr>
          )
        })}
      </tbody>
    </table>
  )
}
