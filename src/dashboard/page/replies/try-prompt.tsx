/** Tries a prompt: shows the reply, and why each rule matches or not. Nothing is sent or counted. */
import { useState } from 'preact/hooks'
import type { Explained } from '../../../replies/operations.js'
import { control } from '../api.js'
import { CodeBlock } from '../widgets/code-block.jsx'
import { Disclosure } from '../widgets/disclosure.jsx'
import { Field } from '../widgets/fields.jsx'
import { Form } from '../widgets/form.jsx'
import { capitalized } from '../wording.js'

export function TryPrompt() {
  const [prompt, setPrompt] = useState('')
  const [explained, setExplained] = useState<Explained>()
  const tryOut = async () => setExplained(await control('POST /replies/try', { body: { prompt } }))
  return (
    <div class="stack">
      <Form send="Try" tone="plain" onSend={tryOut}>
        <Field label="Prompt" value={prompt} onChange={setPrompt} required={false} placeholder="What is the weather?" />
      </Form>
      <div role="status">{explained && <Explanation of={explained} />}</div>
    </div>
  )
}

function Explanation({ of: { rule, source, reply, hint, others, total } }: { readonly of: Explained }) {
  return (
    <div class="stack">
      <p>
        <strong>{verdict(rule?.title, source)}</strong>{' '}
        {rule && (
          <span class="quiet">
            <code>{rule.place}</code> {rule.why}
          </span>
        )}
      </p>
      <CodeBlock code={reply} label={source === null ? 'The error' : 'The reply'} />
      {hint && <p class="quiet">{hint}</p>}
      {others.length > 0 && (
        <Disclosure
          summary="Other rules"
          note={`${others.length < total - 1 ? `${others.length} of ` : ''}${Math.max(others.length, total - (rule ? 1 : 0))}`}
        >
          <ul class="stack long-name">
            {others.map(({ title, place, isBefore, reasons }, i) => (
              <li key={i}>
                <strong>{title}</strong> <code class="quiet">{place}</code>
                <br />
                {reasons.join('; ') || `matches too, but another rule answers ${isBefore ? 'instead' : 'first'}`}
              </li>
            ))}
          </ul>
        </Disclosure>
      )}
    </div>
  )
}

function verdict(title: string | undefined, source: string | null): string {
  if (title !== undefined) return `${capitalized(title)} answers.`
  return source === null ? 'No rule answers, and the request is refused.' : `No rule answers. Instead: ${source}.`
}
