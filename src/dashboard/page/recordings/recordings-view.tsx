/** What was recorded: looked for, looked at, removed. */
import { useAddress } from '../routing.js'
import { View } from '../widgets/view.jsx'
import { OneRecording } from './one-recording.jsx'
import { RecordingList } from './recording-list.jsx'

export function RecordingsView() {
  const file = useAddress().query.get('file')
  if (file !== null) return <OneRecording key={file} file={file} />
  return (
    <View title="Recordings" lead="Answers that are kept on disk. In mode replay the same requests get them again.">
      <RecordingList />
    </View>
  )
}
