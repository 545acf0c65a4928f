/** The tools that the model calls, with a place for what each of them gives back. */
import { useState } from 'preact/hooks'
import { TextArea } from '../widgets/text-area.jsx'
import type { ToolCall } from './completion.js'

interface Props {
  readonly calls: readonly ToolCall[]
  /** What was told already. */
  readonly results: readonly string[] | undefined
  /** Whether results may be sent now. */
  readonly isOpen: boolean
  readonly onResults: (results: readonly string[]) => void
}

export function ToolCalls({ calls, results, isOpen, onResults }: Props) {
  const [written, setWritten] = useState<readonly string[]>([])
  const resultOf = (place: number) => written[place] ?? results?.[place] ?? ''
  const submit = (event: Event) => {
    event.preventDefault()
    onResults(calls.map((_call, place) => resultOf(place)))
  }
  const write = (place: number, text: string) =>
    setWritten(calls.map((_call, other) => (other === place ? text : resultOf(other))))
  return (
    <form class="calls" onSubmit={submit}>
      {calls.map(({ id, name, arguments: said }, place) => (
        <fieldset key={id || place} class="call">
          <legend>
            Calls <code>{name}</code>
          </legend>
          <pre class="call-arguments">
            <code>{readable(said)}</code>
          </pre>
          {isOpen && (
            <TextArea
              label={`Result of ${name}`}
              value={resultOf(place)}
              onChange={text => write(place, text)}
              placeholder="What the tool gives back: text or JSON"
              rows={2}
              code
            />
          )}
          {!isOpen && results?.[place] !== undefined && (
            <>
              <p class="quiet">Result</p>
              <pre class="call-arguments">
                <code>{results[place]}</code>
              </pre>
            </>
          )}
        </fieldset>
      ))}
      {isOpen && (
        <div class="form-buttons">
          <button type="submit" class="button button-small button-main">
            {calls.length === 1 ? 'Send result' : 'Send results'}
          </button>
        </div>
      )}
    </form>
  )
}

/** JSON with its lines; as it comes while it is on its way. */
function readable(said: string): string {
  try {
    return JSON.stringify(JSON.parse(said), null, 2)
  } catch {
    return said
  }
}
