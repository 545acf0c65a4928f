/** Tries a prompt: shows what would be sent, and which rule says so. Nothing is sent or counted. */
import type { Explained } from '../../../replies/operations.js'
import { control } from '../api.js'
import { useConfig } from '../config.jsx'
import { EditorLink } from '../editor-link.jsx'
import { Button } from '../widgets/button.jsx'
import { CodeBlock } from '../widgets/code-block.jsx'
import { Field } from '../widgets/fields.jsx'
import { Form, useFields } from '../widgets/form.jsx'
import { capitalized } from '../wording.js'

interface Props {
  readonly explained: Explained | undefined
  readonly onExplained: (explained: Explained | undefined) => void
}

export function TryPrompt({ explained, onExplained }: Props) {
  const { values, field } = useFields({ prompt: '', tools: '' })
  const [model = ''] = useConfig().models
  const tryOut = async () => onExplained(await control('POST /replies/try', { body: attemptOf(values, model) }))
  return (
    <div class="stack one-line">
      <Form
        send="Try"
        tone="plain"
        onSend={tryOut}
        beside={explained && <Button onClick={() => onExplained(undefined)}>Clear</Button>}
      >
        <div class="fields">
          <Field
            label="Try a prompt"
            {...field('prompt')}
            placeholder="Where is my order?"
            hint="Or a request, as in GET /builder/projects."
          />
          <Field label="With tools" {...field('tools')} required={false} placeholder="find_order, …" />
        </div>
      </Form>
      <div role="status">{explained && <Verdict of={explained} />}</div>
    </div>
  )
}

function attemptOf({ prompt, tools }: { readonly prompt: string; readonly tools: string }, model: string) {
  const [, method, path] = /^(GET|POST|PUT|PATCH|DELETE) (\/\S*)$/.exec(prompt.trim()) ?? []
  if (method && path) return { request: { method, path } }
  const names = tools.split(/[\s,]+/).filter(name => name !== '')
  if (names.length === 0) return { prompt }
  const body = {
    model,
    messages: [{ role: 'user', content: prompt }],
    tools: names.map(name => ({ type: 'function', function: { name } })),
  }
  return { request: { method: 'POST', path: '/v1/chat/completions', body } }
}

function Verdict({ of: { rule, source, reply, hint } }: { readonly of: Explained }) {
  return (
    <div class="stack">
      <p>
        <strong>{verdict(rule?.title, source)}</strong>{' '}
        {rule && (
          <span class="quiet">
            <EditorLink of="rules" place={rule.place} /> {rule.why}
          </span>
        )}
      </p>
      <CodeBlock code={reply} label={source === null ? 'The error' : 'The reply'} />
      {hint && <p class="quiet">{hint}</p>}
    </div>
  )
}

function verdict(title: string | undefined, source: string | null): string {
  if (title !== undefined) return `${capitalized(title)} answers.`
  return source === null ? 'No rule answers, and the request is refused.' : `No rule answers. Instead: ${source}.`
}
