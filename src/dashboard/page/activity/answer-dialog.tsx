/** "Answer this": a temporary rule for a request, tried first from the next request on, and as YAML to keep. */
import { useState } from 'preact/hooks'
import type { JournalEntry } from '../../../journal/operations.js'
import { control, Failure } from '../api.js'
import { faultIn } from '../strip/menus.jsx'
import { Button } from '../widgets/button.jsx'
import { Dialog } from '../widgets/dialog.jsx'
import { Field, Form, Select, TextArea, useAction, useFields } from '../widgets/fields.jsx'
import { isObject, parsed } from '../widgets/json.js'
import { useResource } from '../widgets/resource.js'
import { FailureNote, Notice, Shown } from '../widgets/states.jsx'
import { CodeBlock } from '../widgets/view.jsx'
import { sendAgain } from './addresses.js'
import { contentText, toolsIn, turnsAnswered, turnsAsked } from './conversation.jsx'

export function AnswerDialog({ id }: { readonly id: string }) {
  const loaded = useResource(signal => control('GET /journal/{id}', { id, signal }), [id])
  return (
    <Dialog title="Answer this" wide>
      {close => <Shown of={loaded}>{entry => <AnswerForm entry={entry} close={close} />}</Shown>}
    </Dialog>
  )
}

const kinds = ['text', 'json', 'tool', 'fault'] as const
type Kind = (typeof kinds)[number]

const labels: Readonly<Record<Kind, string>> = { text: 'Text', json: 'JSON', tool: 'Tool call', fault: 'Fault' }

interface Added {
  readonly id: string
  readonly yaml: string
}

interface AnswerFormProps {
  readonly entry: JournalEntry
  readonly close: () => void
}

function AnswerForm({ entry, close }: AnswerFormProps) {
  const prompt = promptOf(entry)
  const tools = toolsIn(entry.request.body)
  const { values, field, change } = useFields({
    kind: 'text' as Kind,
    reply: beforeOf(entry),
    tool: tools[0] ?? '',
    on: 'prompt',
  })
  const [added, setAdded] = useState<Added>()
  const use = async () => {
    const rule = { when: whenOf(entry, values), reply: replyOf(values) }
    const { data } = await control('POST /replies', { body: rule as never })
    const id = data[0]?.id ?? ''
    const listed = await control('GET /replies', { query: { limit: 1000 } })
    setAdded({ id, yaml: listed.data.find(one => one.id === id)?.yaml ?? '' })
  }
  if (added) return <InUse of={added} exchange={entry.id} close={close} />
  const { name: _name, ...kind } = field('kind')
  return (
    <Form
      send="Use from now on"
      onSend={use}
      said="The rule answers from the next request on."
      beside={<Button onClick={close}>Cancel</Button>}
    >
      <div class="fields">
        <Select label="Reply" options={kinds.map(one => [one, labels[one]] as const)} {...kind} />
        <Select
          label="For"
          value={values.on}
          onChange={on => change({ on })}
          options={[
            ['prompt', 'this prompt'],
            ['contains', 'prompts that contain it'],
            ['any', 'any prompt'],
          ]}
        />
      </div>
      {prompt !== '' && values.on !== 'any' && <p class="quiet small as-written cut">{prompt}</p>}
      {values.kind === 'tool' && <Field label="Tool" {...field('tool')} />}
      <TextArea
        label={fieldLabels[values.kind]}
        rows={4}
        code={values.kind !== 'text'}
        placeholder={placeholders[values.kind]}
        {...field('reply')}
      />
    </Form>
  )
}

const fieldLabels: Readonly<Record<Kind, string>> = {
  text: 'What it says',
  json: 'The JSON that it says',
  tool: 'Arguments',
  fault: 'What goes wrong',
}

const placeholders: Readonly<Record<Kind, string>> = {
  text: '',
  json: '{"left": "Monday"}',
  tool: '{"number": "A-1042"}',
  fault: 'status=429; retryAfter=2',
}

const promptOf = ({ request }: JournalEntry) =>
  turnsAsked(request.body).findLast(({ role }) => role === 'user')?.text ?? ''

/** What was answered, as the beginning of a better answer. */
const beforeOf = ({ response }: JournalEntry) => turnsAnswered(response.body)[0]?.text ?? ''

interface Values {
  readonly kind: Kind
  readonly reply: string
  readonly tool: string
  readonly on: string
}

/** Conditions on the request, but not on the follow-up that an app sends after a tool call. */
function whenOf({ request }: JournalEntry, { kind, on }: Values): object {
  const messages = isObject(request.body) && Array.isArray(request.body.messages) ? request.body.messages : []
  const user = contentText(messages.findLast(message => isObject(message) && message.role === 'user')?.content)
  const hasResult = messages.some(message => isObject(message) && message.role === 'tool')
  const matched = on === 'prompt' ? { exact: user } : { contains: user.trim() }
  return {
    ...(on !== 'any' && user.trim() !== '' && { user: matched }),
    ...(hasResult ? { toolResult: true } : kind === 'tool' && { toolResult: false }),
  }
}

function replyOf({ kind, reply, tool }: Values): object {
  if (kind === 'text') return { text: reply }
  if (kind === 'fault') return { fault: faultIn(reply) }
  const value = parsed(reply.trim() === '' ? '{}' : reply)
  if (value === undefined) throw new Failure(-1, 'This is not valid JSON.', { field: 'reply' })
  return kind === 'json' ? { json: value } : { toolCalls: [{ name: tool, arguments: value }] }
}

interface InUseProps {
  readonly of: Added
  readonly exchange: string
  readonly close: () => void
}

/** The rule that was added: it can be tried at once, kept in a file, or removed. */
function InUse({ of: { id, yaml }, exchange, close }: InUseProps) {
  const { failure, run } = useAction()
  const again = async () => {
    await sendAgain(exchange)
    close()
  }
  const remove = async () => {
    await control('DELETE /replies/{id}', { id })
    close()
  }
  return (
    <>
      <Notice tone="good">
        <p>
          It answers from the next request on, until it is removed or Standin is reset. To keep it, put it into a rule
          file:
        </p>
      </Notice>
      <CodeBlock code={yaml} label="the rule as YAML" />
      <FailureNote failure={failure} />
      <div class="form-buttons row">
        <Button tone="warns" push onClick={() => run(remove, 'The rule was removed.')}>
          Remove
        </Button>
        <Button onClick={() => run(again)}>Send again</Button>
        <button type="button" class="button button-main" ref={button => button?.focus()} onClick={close}>
          Done
        </button>
      </div>
    </>
  )
}
