/** Everything that can answer: rules, recordings, the tools of MCP servers, and resources. */
import { Tabs } from '../widgets/tabs.jsx'
import { View } from '../widgets/view.jsx'
import { OfferedTools, ResourceList } from './offers.jsx'
import { Recordings } from './recordings.jsx'
import { Rules } from './rules.jsx'

export const AnswersView = () => (
  <View
    title="Answers"
    lead="What answers your app’s requests. Change the files in your editor; Standin reads them again at once."
  >
    <Tabs
      label="Answers"
      at="tab"
      tabs={[
        { name: 'Rules', content: <Rules /> },
        { name: 'Recordings', content: <Recordings /> },
        { name: 'Tools', content: <OfferedTools /> },
        { name: 'Resources', content: <ResourceList /> },
      ]}
    />
  </View>
)
