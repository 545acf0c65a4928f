/** The rules in the order in which they are tried: when each matches, how often it has answered, and why it does not answer a prompt. */
import { useState } from 'preact/hooks'
import type { Explained, ListedRule } from '../../../replies/operations.js'
import { control } from '../api.js'
import { useConfig } from '../config.jsx'
import { EditorLink } from '../editor-link.jsx'
import { useAddress } from '../routing.jsx'
import { SearchList, useSearch } from '../search-list.jsx'
import { SinceSave } from '../since-save.jsx'
import { Button, CopyButton } from '../widgets/button.jsx'
import { AskButton, Field, Form, useFields } from '../widgets/fields.jsx'
import { Empty, Notice } from '../widgets/states.jsx'
import { type Column, Table } from '../widgets/table.jsx'
import { Badge, CodeBlock } from '../widgets/view.jsx'
import { capitalized } from '../wording.js'
import { inShort } from './in-short.js'

/** A rule with its text as YAML. */
type RuleRow = ListedRule & { readonly yaml?: string }

export function Rules() {
  const wanted = useAddress().query.get('rule') ?? ''
  const list = useSearch<RuleRow>(async (query, signal) => {
    const { data, total = data.length } = await control('GET /replies', { query, signal })
    return { data, total }
  }, wanted)
  const [explained, setExplained] = useState<Explained>()
  const isGone = wanted !== '' && list.words === wanted && list.value?.total === 0
  return (
    <div class="stack">
      <SinceSave />
      <TryPrompt explained={explained} onExplained={setExplained} />
      {isGone && <Gone />}
      <SearchList
        of={list}
        what="rule"
        searches="names, places, conditions and replies"
        empty={
          <Empty title="There are no rules">
            If no rule matches, the reply is made up. Write rules in a file, or answer a request by hand in Activity.
          </Empty>
        }
      >
        {rules => (
          <Table
            caption="Rules, in the order in which they are tried"
            columns={columnsFor(explained)}
            rows={rules}
            keyOf={({ id, place }) => id ?? place}
            isDim={({ enabled }) => !enabled}
            actionsWidth="13rem"
            actions={rule => <TemporaryButtons rule={rule} onRemoved={list.reload} />}
          />
        )}
      </SearchList>
    </div>
  )
}

/** About the rule that a link names, which has been changed or removed since it answered. */
function Gone() {
  const { query } = useAddress()
  return (
    <Notice tone="care">
      The {query.get('rule')} is no longer there. It answered from {query.get('at')}.
    </Notice>
  )
}

const columnsFor = (explained: Explained | undefined): readonly Column<RuleRow>[] => [
  {
    name: 'Rule',
    width: '38%',
    of: ({ id, rule, place, scope, enabled }) => (
      <>
        {rule.name ?? <span class="quiet">no name</span>} {!enabled && <Badge tone="plain">Off</Badge>}
        {id !== null && <Badge tone="care">Temporary</Badge>}
        <span class="quiet small">
          {id === null ? <EditorLink of="rules" place={place} /> : place}
          {scope !== null && `, scope ${scope}`}
        </span>
      </>
    ),
  },
  { name: 'When', of: ({ rule: { on, when } }) => <InShort of={whenInShort(on, when)} /> },
  explained
    ? { name: 'Why not', of: rule => whyNot(rule, explained) }
    : {
        name: 'Says',
        of: ({ rule: { reply, replies = [reply] } }) => (
          <InShort of={replies.map(one => one?.text ?? inShort(one)).join(' · ')} />
        ),
      },
  { name: 'Hits', width: '5rem', of: ({ answered }) => (answered === 0 ? 'none' : `${answered}×`) },
]

/** One line, where the table has columns. */
const InShort = ({ of: words }: { readonly of: string }) => (
  <span class="in-short" title={words}>
    {words}
  </span>
)

const whenInShort = (on: string | undefined, when: object | null | undefined) =>
  [on, when && inShort(when)].filter(Boolean).join(', ') || 'always'

function whyNot({ title, place }: RuleRow, { rule, others }: Explained) {
  const isIt = (other: { readonly title: string; readonly place: string }) =>
    other.title === title && other.place === place
  if (rule && isIt(rule)) return <Badge tone="good">Answers</Badge>
  const found = others.find(isIt)
  if (!found) return 'It is for other requests.'
  return found.reasons.join('; ') || `matches too, but another rule answers ${found.isBefore ? 'instead' : 'first'}`
}

interface RowProps {
  readonly rule: RuleRow
  readonly onRemoved: () => void
}

/** Only a rule that is in no file can be removed here. */
function TemporaryButtons({ rule: { id, rule, title, yaml }, onRemoved }: RowProps) {
  if (id === null) return null
  const name = rule.name ?? title
  return (
    <>
      {yaml !== undefined && <CopyButton text={yaml} what={`YAML of ${name}`} words="Copy YAML" />}
      <AskButton
        small
        label="Remove"
        about={name}
        title={`Remove “${name}”?`}
        send="Remove rule"
        onSend={() => control('DELETE /replies/{id}', { id }).then(onRemoved)}
        said={`The rule ${name} was removed.`}
      >
        <p>It is in no file, so it cannot be restored.</p>
      </AskButton>
    </>
  )
}

interface Props {
  readonly explained: Explained | undefined
  readonly onExplained: (explained: Explained | undefined) => void
}

function TryPrompt({ explained, onExplained }: Props) {
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
