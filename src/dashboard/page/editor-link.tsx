/** A link that opens a file of rules or recordings in Visual Studio Code, at its line. */
import type { ComponentChildren } from 'preact'
import { useConfig } from './config.jsx'
import { Icon } from './widgets/icon.jsx'

interface Props {
  readonly of: 'rules' | 'recordings'
  /** As in `replies/a.yaml:5`. */
  readonly place: string
  readonly children?: ComponentChildren
}

/** Only a text for a place that is in no file, and on other machines. */
export function EditorLink({ of, place, children = place }: Props) {
  const folder = useConfig().folders?.[of]
  if (folder === undefined || !/^[^[ #]+\.\w+(:\d+)?$/.test(place)) return <code>{children}</code>
  const file = `${folder}/${place}`.replaceAll('\\', '/').replace(/^\//, '')
  return (
    <a class="editor-link" href={`vscode://file/${encodeURI(file)}`}>
      <code>{children}</code>
      <Icon name="link" />
      <span class="unseen"> in the editor</span>
    </a>
  )
}
