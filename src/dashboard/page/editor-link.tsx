/** A link that opens a file of rules or recordings in Visual Studio Code, at its line. */
import { useConfig } from './config.jsx'

interface Props {
  readonly of: 'rules' | 'recordings'
  /** As in `replies/a.yaml:5`. */
  readonly place: string
}

/** Only a text for a place that is in no file, and on other machines. */
export function EditorLink({ of, place }: Props) {
  const folder = useConfig().folders?.[of]
  if (folder === undefined || !/^[^[#]+\.\w+(:\d+){0,2}$/.test(place)) return <code>{place}</code>
  const file = `${folder}/${place}`.replaceAll('\\', '/').replace(/^\//, '')
  return (
    <a href={`vscode://file/${encodeURI(file)}`} title="Open in the editor">
      <code>{place} ↗</code>
    </a>
  )
}
