/** The requests as they come in. */
import { useLive } from '../live/live.js'
import { View } from '../widgets/view.jsx'

export function ActivityView() {
  const rows = useLive(({ rows }) => rows)
  return (
    <View title="Activity">
      <ol>
        {rows.map(({ id, path }) => (
          <li key={id}>{path}</li>
        ))}
      </ol>
    </View>
  )
}
