/** The text of a rule in an editor, with a list of its problems. */
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import type { RuleProblem } from '../../replies/operations.js'
import { control } from '../api.js'
import type { YamlEditor } from '../editor/yaml-editor.js'
import { useOnce } from '../widgets/resource.js'
import { Notice, Waiting } from '../widgets/states.jsx'

interface Props {
  readonly initial: string
  readonly problems: readonly RuleProblem[]
  readonly onChange: (text: string) => void
}

/** Loads the editor and moves the focus there, unless another field of the dialog has it. */
function useEditor(initial: string, onChange: Props['onChange']) {
  const host = useRef<HTMLDivElement>(null)
  const editor = useRef<YamlEditor | undefined>(undefined)
  const [state, setState] = useState<'loading' | 'ready' | 'failed'>('loading')
  const changed = useRef(onChange)
  changed.current = onChange
  useLayoutEffect(() => {
    let isGone = false
    import('../editor/yaml-editor.js').then(
      ({ openYamlEditor }) => {
        if (isGone || !host.current) return
        const onChange = (text: string) => changed.current(text)
        editor.current = openYamlEditor(host.current, { text: initial, label: 'Rule', onChange })
        setState('ready')
        // The user may be typing a file name by now.
        if (!host.current.closest('dialog')?.querySelector(':focus')) editor.current.focus()
      },
      () => setState('failed'),
    )
    return () => {
      isGone = true
      editor.current?.close()
    }
  }, [])
  return { host, editor, state }
}

export function RuleText({ initial, problems, onChange }: Props) {
  const { host, editor, state } = useEditor(initial, onChange)
  useEffect(() => editor.current?.show(problems), [problems, state])
  return (
    <div class="field stack">
      <span aria-hidden="true">Rule</span>
      <div ref={host} class="rule-text" />
      {state === 'loading' && <Waiting />}
      {state === 'failed' && (
        <Notice tone="danger">The editor could not be loaded. Reload the page to try again.</Notice>
      )}
      <div role="status">
        {problems.length > 0 && (
          <ul class="error danger">
            {problems.map(problem => (
              <li key={`${problem.line} ${problem.column} ${problem.sentence}`}>
                <button type="button" class="link-button" onClick={() => editor.current?.goTo(problem)}>
                  Line {problem.line}, column {problem.column}
                </button>
                : {problem.sentence}
              </li>
            ))}
          </ul>
        )}
      </div>
    </div>
  )
}

const SETTLE_MS = 250

/** The problems of a rule, checked a moment after the last key press. With an id, checks it as that rule's new text. */
export function useProblems(yaml: string, id: string | undefined): readonly RuleProblem[] {
  const [problems, setProblems] = useState<readonly RuleProblem[]>([])
  const load = async (signal: AbortSignal) => {
    if (yaml.trim() === '') return [{ line: 1, column: 1, sentence: 'There is no rule here.' }]
    return (await control('POST /replies/check', { body: { yaml, ...(id !== undefined && { id }) }, signal })).problems
  }
  // If the check fails, saving shows why.
  useOnce({ load, take: setProblems, failed: () => {}, afterMs: SETTLE_MS }, [yaml, id])
  return problems
}
