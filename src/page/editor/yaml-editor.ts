/** The editor for rules: CodeMirror with YAML, completion and marked problems. Loaded when a rule is opened. */
import { autocompletion, closeCompletion, completionKeymap, completionStatus } from '@codemirror/autocomplete'
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands'
import { yaml } from '@codemirror/lang-yaml'
import { HighlightStyle, indentUnit, syntaxHighlighting } from '@codemirror/language'
import { lintGutter, setDiagnostics } from '@codemirror/lint'
import { EditorState } from '@codemirror/state'
import { drawSelection, EditorView, highlightActiveLine, type KeyBinding, keymap, lineNumbers } from '@codemirror/view'
import { tags } from '@lezer/highlight'
import type { RuleProblem } from '../../replies/operations.js'
import { completeRule } from './rule-completion.js'

const colors = HighlightStyle.define([
  { tag: [tags.definition(tags.propertyName), tags.propertyName], color: 'var(--accent)' },
  { tag: [tags.string, tags.special(tags.string)], color: 'var(--care)' },
  { tag: tags.comment, color: 'var(--quiet)', fontStyle: 'italic' },
  { tag: [tags.keyword, tags.bool, tags.number], color: 'var(--danger)' },
])

const look = EditorView.theme({
  '&': { maxHeight: 'min(26rem, 45dvh)', color: 'var(--ink)', background: 'var(--paper)', fontSize: '0.875rem' },
  '&, .cm-tooltip': { border: '1px solid var(--line-strong)', borderRadius: 'var(--round)' },
  '&.cm-focused': { outline: '2px solid var(--accent)', outlineOffset: '1px' },
  '.cm-scroller': { fontFamily: 'var(--mono)', lineHeight: '1.6', minHeight: '9rem' },
  '.cm-content': { caretColor: 'var(--ink)' },
  '.cm-cursor': { borderLeftColor: 'var(--ink)' },
  '.cm-gutters': { color: 'var(--quiet)', background: 'var(--sunk)', border: '0' },
  '.cm-activeLine, .cm-activeLineGutter': { background: 'color-mix(in srgb, var(--accent) 7%, transparent)' },
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground': {
    background: 'color-mix(in srgb, var(--accent) 28%, transparent) !important',
  },
  '.cm-tooltip': { color: 'var(--ink)', background: 'var(--raised)' },
  '.cm-tooltip.cm-tooltip-autocomplete > ul > li[aria-selected]': {
    color: 'var(--on-accent)',
    background: 'var(--accent)',
  },
  '.cm-completionInfo': { padding: '0.4rem 0.6rem', fontSize: '0.8125rem' },
})

/** Closes the list of completions. While they are only being looked up, Escape is for the dialog. */
const closing: KeyBinding = {
  key: 'Escape',
  run: view => completionStatus(view.state) === 'active' && closeCompletion(view),
}

/** Replaces a selection by script: browsers would add its style as an inline style, which the content security policy forbids. */
function typeOver(event: InputEvent, view: EditorView): boolean {
  const { state } = view
  if (event.inputType !== 'insertText' || event.data === null || event.isComposing || state.selection.main.empty)
    return false
  event.preventDefault()
  view.dispatch(state.replaceSelection(event.data), { userEvent: 'input.type', scrollIntoView: true })
  return true
}

const extensions = [
  ...[lineNumbers(), lintGutter(), history(), drawSelection(), highlightActiveLine()],
  ...[yaml(), indentUnit.of('  '), syntaxHighlighting(colors), look],
  autocompletion({ override: [completeRule], icons: false, defaultKeymap: false }),
  EditorView.domEventHandlers({ beforeinput: typeOver }),
  // Without Tab, which moves to the next field.
  keymap.of([
    closing,
    ...completionKeymap.filter(({ key }) => key !== closing.key),
    ...defaultKeymap,
    ...historyKeymap,
  ]),
]

export type YamlEditor = ReturnType<typeof openYamlEditor>

interface Options {
  readonly text: string
  readonly label: string
  readonly onChange: (text: string) => void
}

/**
 * Opens an editor inside `host`. It is in a shadow root, where CodeMirror adds constructed style sheets. In the page it would add inline
 * styles, which the page's content security policy forbids.
 */
export function openYamlEditor(host: HTMLElement, { text, label, onChange }: Options) {
  // An Escape that closes the list of completions must not reach the dialog.
  host.addEventListener('keydown', event => event.key === 'Escape' && event.defaultPrevented && event.stopPropagation())
  const root = host.shadowRoot ?? host.attachShadow({ mode: 'open', delegatesFocus: true })
  const state = EditorState.create({
    doc: text,
    extensions: [
      extensions,
      // With a tab index, since accessibility checkers look for something focusable in a scrolling area, and not all know this one.
      EditorView.contentAttributes.of({
        'aria-label': label,
        tabindex: '0',
        autocapitalize: 'off',
        spellcheck: 'false',
      }),
      EditorView.updateListener.of(({ docChanged, state }) => docChanged && onChange(state.doc.toString())),
    ],
  })
  const view = new EditorView({ state, root, parent: root })
  const placeOf = ({ line, column }: RuleProblem) => {
    const { from, to } = view.state.doc.line(Math.min(line, view.state.doc.lines))
    return { from: Math.min(to, from + column - 1), to }
  }
  return {
    show: (problems: readonly RuleProblem[]) =>
      view.dispatch(
        setDiagnostics(
          view.state,
          problems.map(problem => ({ ...placeOf(problem), severity: 'error', message: problem.sentence })),
        ),
      ),
    goTo(problem: RuleProblem) {
      view.dispatch({ selection: { anchor: placeOf(problem).from }, scrollIntoView: true })
      view.focus()
    },
    focus: () => view.focus(),
    close: () => view.destroy(),
  }
}
