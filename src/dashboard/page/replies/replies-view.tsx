/** The rules for what the models say, which can be searched, shown and tried. */
import { useState } from 'preact/hooks'
import type { ListedRule } from '../../../replies/operations.js'
import { routes } from '../../routes.js'
import { control } from '../api.js'
import { navigate, useAddress } from '../routing.js'
import { Badge } from '../widgets/badge.jsx'
import { Button } from '../widgets/button.jsx'
import { CodeBlock } from '../widgets/code-block.jsx'
import { AskButton, Dialog, openDialog } from '../widgets/dialog.jsx'
import { ListPage, useList } from '../widgets/list-page.jsx'
import { useOnce } from '../widgets/resource.js'
import { Empty, Notice } from '../widgets/states.jsx'
import type { Column } from '../widgets/table.jsx'
import { Section } from '../widgets/view.jsx'
import { saysInShort, whenInShort } from './in-short.js'
import { TryPrompt } from './try-prompt.jsx'

const RULES_EVERY_MS = 3000

/** A rule with its text as YAML. */
type RuleRow = ListedRule & { readonly yaml?: string }

export function RepliesView() {
  const list = useList(routes.answers, (query, signal) => control('GET /replies', { query, signal }), RULES_EVERY_MS)
  const gone = useLinked()
  return (
    <ListPage
      title="Replies"
      lead="What the emulated models say, and when. The first rule that matches a request answers it."
      note={gone !== undefined && <Notice tone="care">{gone}</Notice>}
      of={list}
      what="rule"
      searches="names, places, conditions and replies"
      caption="Rules, in the order in which they are tried"
      columns={ruleColumns}
      keyOf={keyOf}
      isDim={({ enabled }) => !enabled}
      actionsWidth="10.5rem"
      actions={rule => <RowButtons rule={rule} onRemoved={list.reload} />}
      empty={
        <Empty title="There are no rules">
          If no rule matches, the reply is made up. Write rules in a file, or create one from a request under Requests.
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
function useLinked(): string | undefined {
  const address = useAddress().query
  const [problem, setProblem] = useState<string>()
  const [title, place] = [address.get('rule'), address.get('at')]
  const find = ({ data }: { readonly data: readonly RuleRow[] }) => {
    navigate(routes.answers, { replace: true })
    const named = data.filter(rule => rule.title === title)
    const found = named.find(rule => rule.place === place) ?? named[0]
    setProblem(found ? undefined : `The ${title} is no longer there. It answered from ${place}.`)
    if (found) show(found)
  }
  const query = title !== null && { search: title, limit: MOST_OF_ONE_TITLE }
  const load = query ? (signal: AbortSignal) => control('GET /replies', { query, signal }) : undefined
  useOnce({ load, take: find, failed: ({ message }) => setProblem(message) }, [title, place])
  return problem
}

const MOST_OF_ONE_TITLE = 1000

const ruleColumns: readonly Column<RuleRow>[] = [
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

const keyOf = ({ id, place }: RuleRow) => id ?? place

const nameOf = ({ rule, place }: RuleRow) => rule.name ?? place

const placeOf = ({ place, scope }: RuleRow) => (scope === null ? place : `${place}, scope ${scope}`)

const timesOf = (answered: number) => ['never', 'once'][answered] ?? `${answered} times`

interface RowProps {
  readonly rule: RuleRow
  readonly onRemoved: () => void
}

/** Only a rule that was added at run time can be removed here. */
function RowButtons({ rule, onRemoved }: RowProps) {
  const name = nameOf(rule)
  const { id } = rule
  return (
    <>
      {id !== null && (
        <AskButton
          small
          label="Remove"
          about={name}
          title={`Remove “${name}”?`}
          send="Remove rule"
          onSend={() => control('DELETE /replies/{id}', { id })}
          onDone={onRemoved}
          said={`The rule ${name} was removed.`}
        >
          <p>It is in no file, so it cannot be restored.</p>
        </AskButton>
      )}
      <Button small about={name} onClick={() => show(rule)}>
        Show
      </Button>
    </>
  )
}

/** Shows a rule as YAML. */
const show = (rule: RuleRow) => openDialog(<RuleDialog rule={rule} />)

function RuleDialog({ rule }: { readonly rule: RuleRow }) {
  return (
    <Dialog title={nameOf(rule)} wide>
      {close => (
        <>
          <p class="quiet long-name">
            <code>{placeOf(rule)}</code>
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
