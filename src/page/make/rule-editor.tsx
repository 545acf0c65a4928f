/** Edits a drafted rule: shows its problems, tries it, and keeps it. */
import { useEffect, useId, useRef, useState } from 'preact/hooks'
import type { Draft, RuleProblem } from '../../replies/operations.js'
import type { Control } from '../api.js'
import { offsetOf } from '../text-places.js'
import { announce } from '../widgets/announcer.jsx'
import { Field } from '../widgets/fields.jsx'
import { Form, useWorking } from '../widgets/form.jsx'
import { Notice } from '../widgets/states.jsx'

interface Props {
  readonly draft: Draft
  readonly control: Control
  readonly close: () => void
}

export function RuleEditor({ draft, control, close }: Props) {
  const id = useId()
  const area = useRef<HTMLTextAreaElement>(null)
  const [yaml, setYaml] = useState(draft.yaml)
  const [name, setName] = useState(draft.name)
  const [tried, setTried] = useState<readonly string[]>([])
  const [file, setFile] = useState<string>()
  const problems = useProblems(control, yaml)
  const trying = useWorking()

  const goTo = ({ line, column }: RuleProblem) => {
    const at = offsetOf(yaml, line, column)
    area.current?.focus()
    area.current?.setSelectionRange(at, at)
  }
  const tryOut = () =>
    trying.run(async () => {
      const { data } = await control('POST /replies/written', { body: { yaml } })
      await remove(control, tried)
      setTried(data.map(({ id }) => id))
      announce('The rule answers from now on.')
    })
  const takeBack = () =>
    trying.run(async () => {
      await remove(control, tried)
      setTried([])
      announce('The rule is taken back.')
    })
  const keep = async () => {
    const kept = await control('POST /replies/keep', { body: { yaml, name } })
    // The rule is now in a file, so the tried copy is no longer needed.
    await remove(control, tried)
    setTried([])
    setFile(kept.file)
    announce('The rule is kept.')
  }

  if (file !== undefined) {
    return (
      <>
        <Notice tone="good">
          <p class="long-name">
            It is kept in <code>{file}</code>. A running <code>standin</code> reads it by itself.
          </p>
        </Notice>
        <div class="form-buttons">
          <button type="button" class="button button-main" ref={button => button?.focus()} onClick={close}>
            Done
          </button>
        </div>
      </>
    )
  }
  return (
    <Form
      send="Keep in a file"
      onSend={keep}
      beside={
        <>
          <button type="button" class="button form-first" onClick={close}>
            Close
          </button>
          <button
            type="button"
            class="button"
            aria-disabled={trying.busy || problems.length > 0}
            onClick={() => problems.length === 0 && tryOut()}
          >
            {tried.length > 0 ? 'Try again' : 'Try it now'}
          </button>
        </>
      }
    >
      {draft.remarks.map(remark => (
        <Notice key={remark} tone="care">
          {remark}
        </Notice>
      ))}
      <div class="field rule-editor">
        <label for={id}>Rule</label>
        <textarea
          ref={area}
          id={id}
          class="text-area text-area-code"
          value={yaml}
          spellcheck={false}
          autocapitalize="off"
          rows={Math.min(18, Math.max(8, draft.yaml.split('\n').length))}
          aria-invalid={problems.length > 0}
          aria-describedby={`${id}-problems`}
          onInput={({ currentTarget }) => setYaml(currentTarget.value)}
        />
        <div id={`${id}-problems`} role="status">
          <ProblemList problems={problems} onChoose={goTo} />
        </div>
      </div>
      {trying.failure && <Notice tone="danger">{trying.failure.message}</Notice>}
      {tried.length > 0 && (
        <Notice tone="good">
          <p>It answers before all other rules, until Standin stops or you take it back.</p>
          <button type="button" class="button button-small" aria-disabled={trying.busy} onClick={takeBack}>
            Take it back
          </button>
        </Notice>
      )}
      <Field
        label="Name of the file"
        value={name}
        onChange={setName}
        autocomplete="off"
        maxLength={80}
        hint="It becomes a new file in the folder of replies; what is there is never written over."
      />
    </Form>
  )
}

interface ProblemListProps {
  readonly problems: readonly RuleProblem[]
  readonly onChoose: (problem: RuleProblem) => void
}

/** The problems of a text, each with its place. Choosing one moves the cursor there. */
function ProblemList({ problems, onChoose }: ProblemListProps) {
  if (problems.length === 0) return null
  return (
    <ul class="problems">
      {problems.map(problem => (
        <li key={`${problem.line} ${problem.column} ${problem.sentence}`}>
          <button type="button" class="problem-place" onClick={() => onChoose(problem)}>
            Line {problem.line}, column {problem.column}
          </button>
          : {problem.sentence}
        </li>
      ))}
    </ul>
  )
}

/** Removes rules; some may have been removed elsewhere already. */
const remove = (control: Control, ids: readonly string[]) =>
  Promise.all(ids.map(id => control('DELETE /replies/{id}', { id }).catch(() => {})))

const SETTLE_MS = 250

/** The problems of rules, checked a moment after the last key press. */
function useProblems(control: Control, yaml: string): readonly RuleProblem[] {
  const [problems, setProblems] = useState<readonly RuleProblem[]>([])
  useEffect(() => {
    const leaving = new AbortController()
    const timer = setTimeout(() => {
      if (yaml.trim() === '') return setProblems([{ line: 1, column: 1, sentence: 'There is no rule here.' }])
      control('POST /replies/check', { body: { yaml }, signal: leaving.signal }).then(
        ({ problems }) => leaving.signal.aborted || setProblems(problems),
        // Ignored: trying and keeping the rule report failures themselves.
        () => {},
      )
    }, SETTLE_MS)
    return () => {
      clearTimeout(timer)
      leaving.abort()
    }
  }, [control, yaml])
  return problems
}
