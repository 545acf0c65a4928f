/** The rules for what the models say, which can be searched, edited, reordered, switched off, deleted and tried. */
import { useEffect, useRef, useState } from 'preact/hooks'
import { routes } from '../../dashboard/routes.js'
import type { ListedRule } from '../../replies/operations.js'
import { control } from '../api.js'
import { RuleDialog } from '../make/rule-editor.jsx'
import { navigate, useAddress } from '../routing.js'
import { announce } from '../widgets/announcer.jsx'
import { Badge } from '../widgets/badge.jsx'
import { Button } from '../widgets/button.jsx'
import { CodeBlock } from '../widgets/code-block.jsx'
import { AskButton, Dialog, openDialog } from '../widgets/dialog.jsx'
import { useAction } from '../widgets/form.jsx'
import { ListPage, type PagedList, useList } from '../widgets/list-page.jsx'
import { useOnce } from '../widgets/resource.js'
import { Empty, FailureNote, Notice } from '../widgets/states.jsx'
import type { Column } from '../widgets/table.jsx'
import { focusHeading, Section } from '../widgets/view.jsx'
import { saysInShort, whenInShort } from './in-short.js'
import { TryPrompt } from './try-prompt.jsx'

const EVERY_MS = 3000

/** A rule with its text as YAML. */
type RuleRow = ListedRule & { readonly yaml?: string }

const beginning = '- name: greeting\n  when:\n    user: hello\n  reply:\n    text: Hello! How can I help you?\n'

export function RepliesView() {
  const list = useList(routes.replies, (query, signal) => control('GET /replies', { query, signal }), EVERY_MS)
  const changes = useChanges(list)
  const open = (rule: RuleRow) => openRule(rule, list.reload)
  const gone = useLinked(open)
  const create = () =>
    openDialog(<RuleDialog title="New rule" begin={() => ({ yaml: beginning })} onSaved={list.reload} />)
  return (
    <ListPage
      title="Replies"
      lead="What the emulated models say, and when. The first rule that matches a request answers it."
      action={
        <Button tone="main" icon="plus" onClick={create}>
          New rule
        </Button>
      }
      note={
        <>
          {gone !== undefined && <Notice tone="care">{gone}</Notice>}
          <FailureNote failure={changes.failure} />
        </>
      }
      of={list}
      what="rule"
      searches="names, places, conditions and replies"
      caption="Rules, in the order in which they are tried"
      columns={columns}
      keyOf={keyOf}
      isDim={({ enabled }) => !enabled}
      actionsWidth="10rem"
      actions={rule => <RowButtons {...{ rule, changes }} onOpen={() => open(rule)} />}
      empty={
        <Empty title="There are no rules">
          If no rule matches, the reply is made up. Create one here, or from a request under Requests.
        </Empty>
      }
    >
      <Section
        title="Try a prompt"
        lead="Shows what would be sent, and why each rule matches or not. Nothing is sent or counted."
      >
        <TryPrompt />
      </Section>
    </ListPage>
  )
}

/** Opens the rule that the address names. Returns a message if it does not exist. */
function useLinked(open: (rule: RuleRow) => void): string | undefined {
  const address = useAddress().query
  const [problem, setProblem] = useState<string>()
  const [title, place] = [address.get('rule'), address.get('at')]
  const show = ({ data }: { readonly data: readonly RuleRow[] }) => {
    navigate(routes.replies, { replace: true })
    const named = data.filter(rule => rule.title === title)
    const found = named.find(rule => rule.place === place) ?? named[0]
    setProblem(found ? undefined : `The ${title} is no longer there. It answered from ${place}.`)
    if (found) open(found)
  }
  const query = title !== null && { search: title, limit: MOST_OF_ONE_TITLE }
  const load = query ? (signal: AbortSignal) => control('GET /replies', { query, signal }) : undefined
  useOnce({ load, take: show, failed: ({ message }) => setProblem(message) }, [title, place])
  return problem
}

const MOST_OF_ONE_TITLE = 1000

const columns: readonly Column<RuleRow>[] = [
  {
    name: 'Rule',
    of: rule => (
      <>
        {nameOf(rule)} {!rule.enabled && <Badge tone="plain">Off</Badge>}
        {placeOf(rule) !== nameOf(rule) && <code class="row-detail">{placeOf(rule)}</code>}
      </>
    ),
  },
  { name: 'When', of: ({ rule }) => whenInShort(rule) },
  { name: 'Says', of: ({ rule }) => saysInShort(rule) },
  { name: 'Answered', width: '6.5rem', of: ({ answered }) => timesOf(answered) },
]

/** The same for a rule even if other parts of its file change. */
const keyOf = ({ id, place, scope }: RuleRow) => (id === null ? place : `${id.replace(/@[^@]*$/, '')} ${scope}`)

const nameOf = ({ rule, place }: RuleRow) => rule.name ?? place

const placeOf = ({ place, scope }: RuleRow) => (scope === null ? place : `${place}, scope ${scope}`)

const timesOf = (answered: number) => ['never', 'once'][answered] ?? `${answered} times`

type Change = { readonly enabled: boolean } | { readonly move: 'up' | 'down' }

type Changes = ReturnType<typeof useChanges>

interface Move {
  /** The id of the pressed button at the rule's new place. */
  readonly button: string
  readonly from: number
  readonly next: number
}

/** Changes rules from their rows. The focus follows a rule that is moved, even to another page. */
function useChanges({ value, reload, search }: PagedList<{ readonly total?: number }>) {
  const working = useAction()
  const moved = useRef<Move | undefined>(undefined)
  useEffect(() => {
    if (!moved.current || !value) return
    const { button, from, next } = moved.current
    const found = document.getElementById(button)
    const isOnNext = !found && search.query.offset === from && next >= 0 && next < (value.total ?? 0)
    if (isOnNext) return search.move(next)
    moved.current = undefined
    if (found) found.focus()
    else focusHeading()
  }, [value])
  const change = (rule: RuleRow, change: Change) =>
    void working.run(async () => {
      const { id } = await control('PUT /replies/{id}', { id: rule.id ?? '', body: change })
      if ('move' in change) {
        const { offset, limit } = search.query
        const next = change.move === 'up' ? offset - limit : offset + limit
        moved.current = { button: buttonId(id, change.move), from: offset, next }
      }
      const now = 'move' in change ? `moved ${change.move}` : `switched ${change.enabled ? 'on' : 'off'}`
      announce(`The rule ${nameOf(rule)} was ${now}.`)
      reload()
    })
  return { busy: working.busy, failure: working.failure, change }
}

const buttonId = (id: string, direction: 'up' | 'down') => `${direction}:${id}`

interface RowProps {
  readonly rule: RuleRow
  readonly changes: Changes
  readonly onOpen: () => void
}

function RowButtons({ rule, changes, onOpen }: RowProps) {
  const about = nameOf(rule)
  const { id, enabled, moves } = rule
  const openButton = (
    <Button small about={about} onClick={onOpen}>
      {id === null ? 'Show' : 'Edit'}
    </Button>
  )
  if (id === null) return openButton
  return (
    <>
      {(['up', 'down'] as const).map(direction => (
        <Button
          small
          key={direction}
          id={buttonId(id, direction)}
          aria-disabled={!moves.includes(direction) || changes.busy}
          onClick={() => moves.includes(direction) && changes.change(rule, { move: direction })}
        >
          <span aria-hidden="true">{direction === 'up' ? '↑' : '↓'}</span>
          <span class="unseen">
            Move {about} {direction}
          </span>
        </Button>
      ))}
      <Button
        small
        about={about}
        aria-disabled={changes.busy}
        onClick={() => changes.change(rule, { enabled: !enabled })}
      >
        {enabled ? 'Switch off' : 'Switch on'}
      </Button>
      {openButton}
    </>
  )
}

/** Opens a rule in the editor. A rule that comes from code is only shown. */
const openRule = (rule: RuleRow, onChanged: () => void) =>
  openDialog(rule.id === null ? <ShowDialog rule={rule} /> : <EditDialog {...{ rule, id: rule.id, onChanged }} />)

interface EditProps {
  readonly rule: RuleRow
  readonly id: string
  /** Called when the rule was saved or deleted. */
  readonly onChanged: () => void
}

function EditDialog({ rule, id, onChanged }: EditProps) {
  const begin = (signal: AbortSignal) => control('GET /replies/{id}', { id, signal })
  const copy = (
    <RuleDialog title={`Copy of ${nameOf(rule)}`} begin={begin} target={{ id, isCopied: true }} onSaved={onChanged} />
  )
  return (
    <RuleDialog
      title={nameOf(rule)}
      place={placeOf(rule)}
      begin={begin}
      target={{ id, isCopied: false }}
      more={
        <>
          <AskButton
            push
            label="Delete"
            title={`Delete “${nameOf(rule)}”?`}
            send="Delete rule"
            onSend={() => control('DELETE /replies/{id}', { id })}
            onDone={onChanged}
            said={`The rule ${nameOf(rule)} was deleted.`}
          >
            <p class="long-name">{removedInWords(rule)}</p>
          </AskButton>
          <Button onClick={() => openDialog(copy)}>Duplicate</Button>
        </>
      }
      onSaved={onChanged}
    />
  )
}

function removedInWords({ file }: RuleRow) {
  if (file === null) return 'It is in no file, so it cannot be restored.'
  return (
    <>
      It is removed from <code>{file}</code>, with the comments above it.
    </>
  )
}

/** Shows a rule that comes from code as YAML. */
function ShowDialog({ rule }: { readonly rule: RuleRow }) {
  return (
    <Dialog title={nameOf(rule)} wide>
      {close => (
        <>
          <p class="quiet">
            This rule comes from code, <code>{rule.place}</code>: change it there.
          </p>
          <CodeBlock code={rule.yaml ?? ''} label="The rule" />
          <div class="form-buttons row">
            <Button onClick={close}>Close</Button>
          </div>
        </>
      )}
    </Dialog>
  )
}
