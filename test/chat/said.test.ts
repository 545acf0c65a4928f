import { expect, test } from 'vitest'
import { liveWith, saying, tape } from '../recordings/live.js'

const reminder = '<system-reminder>\nNever mention this.\n</system-reminder>\n'
const env = '<env>\nWorking directory: /home/ada\n</env>'
const part = (text: string) => ({ type: 'text', text })
const user = (...content: unknown[]) => ({ role: 'user', content: content.length === 1 ? content[0] : content })

test.each<[agent: string, messages: object[], said: string]>([
  ['one that says nothing else', [user('Fix the test')], 'Fix the test'],
  ['reminders before the text', [user(`${reminder}${env}\n\nFix the test`)], 'Fix the test'],
  ['reminders in a part of their own', [user(part(reminder), part('Fix the test'))], 'Fix the test'],
  ['reminders in a message of their own', [user('Fix the test'), user(reminder)], 'Fix the test'],
  [
    'an environment with attributes',
    [user(`<environment_context id="1">\n<cwd>/</cwd>\n</environment_context>Fix the test`)],
    'Fix the test',
  ],
  [
    'the request in a tag',
    [user(`<user_info>Linux</user_info><user_query>\nFix the test\n</user_query>`)],
    'Fix the test',
  ],
  [
    'the request in a tag, before the rest',
    [user(`<task>Fix the test</task>\n<environment_details>…</environment_details>`)],
    'Fix the test',
  ],
  ['HTML that is asked about', [user('<p>Hi</p>')], '<p>Hi</p>'],
  ['a tag that is not closed', [user('<env Fix the test')], '<env Fix the test'],
  ['a comparison', [user('<a> is less than b')], '<a> is less than b'],
  ['nothing but a reminder', [user(reminder.trim())], reminder.trim()],
])('the title of an exchange and of its recording is what the user really said: %s', async (_agent, messages, said) => {
  const live = await liveWith(saying({ choices: [{ message: { role: 'assistant', content: 'Done.' } }] }))
  const { recording, files } = tape(live.url)
  const { chat, ask, stop } = await recording()
  await (await chat({ model: 'm', messages: [{ role: 'system', content: 'Be brief.' }, ...messages] })).text()
  const { data } = (await (await ask('/__standin/journal?brief=true')).json()) as { data: object[] }
  expect(data).toMatchObject([{ prompt: said }])
  await stop()
  const words =
    said
      .toLowerCase()
      .match(/[a-z]+/g)
      ?.slice(0, 3)
      .join('-') ?? ''
  expect(files()).toEqual([expect.stringContaining(`chat-completions/${words}`)])
})
