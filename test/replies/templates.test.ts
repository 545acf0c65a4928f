// biome-ignore-all lint/suspicious/noTemplateCurlyInString: ${…} in plain text is what the tests are about

import fc from 'fast-check'
import { beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { withFaker } from '../../src/replies/fake.js'
import { loadTemplates } from '../../src/replies/index.js'
import { matchFact, shownHeaders, TemplateError, type Templates, toolFact } from '../../src/replies/templates.js'
import { anyCharacter } from '../characters.js'
import { runs } from '../runs.js'
import { didYouMean, RAW_HINT } from '../sentences.js'

let templates: Templates
let plainFacts: Facts

type Facts = Readonly<Record<string, unknown>>

beforeAll(async () => {
  templates = await loadTemplates()
  plainFacts = {
    request: { model: 'gpt-4o-mini', metadata: { unit: 'celsius' }, messages: [{ role: 'user', content: 'hello' }] },
    user: 'hello',
    system: 'Be kind.',
    assistant: 'Yes?',
    model: 'gpt-4o-mini',
    turn: 1,
    match: [],
    tool: undefined,
    caller: { kind: 'user', id: 'u1', email: 'ada@example.com' },
    headers: {},
    count: 1,
    now: '2026-03-04T05:06:07.000Z',
    timestamp: 1_772_600_767,
    faker: await seededFaker(7),
  }
})

/** Renders a text to a text, and anything else to a value. */
function render(template: unknown, facts: Facts = {}): unknown {
  const { renderText, renderValue } = templates.compile(template, Object.keys(plainFacts))
  const all: Facts = { ...plainFacts, ...facts }
  return (typeof template === 'string' ? renderText : renderValue)(name => all[name])
}

/** The matches of a regular expression, as a fact. */
const matchOf = (expression: RegExp, text: string) => matchFact(expression.exec(text) ?? [])

/** Faker with a seed, while nothing else uses it. */
const seededFaker = (seed: number) => withFaker(seed, faker => faker)

/** What is wrong with a template, and where. */
function mistakeIn(template: unknown, facts?: Facts) {
  try {
    const rendered = facts ? render(template, facts) : templates.compile(template, Object.keys(plainFacts))
    return { rendered }
  } catch (error) {
    if (!(error instanceof TemplateError)) throw error
    const { message, line, column, path } = error
    return { message, line, column, path }
  }
}

/** Any text that a user may write, including lone surrogates and template syntax. */
const anyText = fc.oneof(
  { arbitrary: fc.string({ unit: anyCharacter }), weight: 2 },
  {
    arbitrary: fc
      .array(
        fc.oneof(
          fc.string({ unit: anyCharacter, maxLength: 4 }),
          fc.constantFrom(
            '{{ user }}',
            '{{',
            '}}',
            '{%',
            '%}',
            '$&',
            '$1',
            '${user}',
            '\n',
            '\ud800',
            '__proto__',
            'constructor',
          ),
        ),
      )
      .map(parts => parts.join('')),
    weight: 3,
  },
)

describe('prompts are data', () => {
  test('any text of a user is rendered unchanged', () => {
    fc.assert(
      fc.property(anyText, said => {
        const match = matchOf(/^(?<all>.*)$/s, said)
        expect(render('{{user}}', { user: said })).toBe(said)
        expect(render('«{{ user }}»', { user: said })).toBe(`«${said}»`)
        expect(render('{{match[1]}}{{ match.all }}', { match })).toBe(said + said)
        expect(render('{{ request.messages[0].content }}', { request: { messages: [{ content: said }] } })).toBe(said)
        expect(render('{% for part in match %}{{ part }}{% endfor %}', { match })).toBe(said + said)
        expect(render('{% capture x %}{{ user }}{% endcapture %}{% assign y = x %}{{ y }}', { user: said })).toBe(said)
      }),
      { numRuns: runs(300) },
    )
  })

  test('a prompt inside JSON stays one string, under any key', () => {
    fc.assert(
      fc.property(anyText, fc.string({ unit: anyCharacter }), (said, key) => {
        const template = Object.fromEntries([[key, { said: 'You: {{ user }}', whole: '{{user}}', list: ['{{user}}'] }]])
        const expected = Object.fromEntries([[key, { said: `You: ${said}`, whole: said, list: [said] }]])
        const rendered = render(template, { user: said })
        expect(rendered).toStrictEqual(expected)
        expect(JSON.parse(JSON.stringify(rendered))).toStrictEqual(expected)
      }),
      { numRuns: runs(300) },
    )
  })

  test.each(['request.constructor', 'request.__proto__', 'match.constructor', 'match.join', 'request[user]'])(
    '%s is empty, since templates see own properties only',
    path => {
      expect(render(`[{{ ${path} }}]`, { user: 'constructor', match: matchOf(/l+/, 'hello') })).toBe('[]')
    },
  )

  test('a key named __proto__ is a key like any other', () => {
    const request = JSON.parse('{"__proto__": {"polluted": "yes"}}') as object
    expect(render('{{ request.__proto__.polluted }}', { request })).toBe('yes')
    const rendered = render(JSON.parse('{"__proto__": "{{ user }}"}'))
    expect(Object.entries(rendered as object)).toEqual([['__proto__', 'hello']])
    expect(({} as Record<string, unknown>).polluted).toBeUndefined()
  })

  test('a filter takes a prompt as the name of a property, but not as a path', () => {
    const where = '{{ request.messages | where: user }}'
    expect(mistakeIn(where, { user: 'a[(100000000000000000..100000000000000001)]' })).toMatchObject({
      message: 'The template cannot be rendered: a property is a name, such as "role".',
    })
    expect(render(where, { user: 'role' })).toBe('[{"role":"user","content":"hello"}]')
  })
})

test('the examples of the documentation are rendered as documented', () => {
  const match = matchOf(/my name is (?<name>\w+)/, 'my name is Ada')
  expect(render('Hi {{match[1]}}, you said "{{user}}"', { match })).toBe('Hi Ada, you said "hello"')
  expect(render('{{ match.name | upcase }}', { match })).toBe('ADA')
  expect(render('{{request.metadata.unit}}')).toBe('celsius')
  expect(render('{{ now }} {{ now | date: "%Y-%m-%d %H:%M" }} {{ timestamp | date: "%H:%M" }}')).toBe(
    '2026-03-04T05:06:07.000Z 2026-03-04 05:06 05:06',
  )
  expect(render('{{count}}. {{ caller.email }} {{ headers.x-tenant }}', { headers: { 'x-tenant': 'acme' } })).toBe(
    '1. ada@example.com acme',
  )
  expect(render('{{ match[1] | default: "stranger" }}')).toBe('stranger')
  expect(render('{% if turn > 1 %}Again?{% else %}Welcome.{% endif %}', { turn: 2 })).toBe('Again?')
  expect(render('{% raw %}{{ this }} and {% that %}{% endraw %}')).toBe('{{ this }} and {% that %}')
  expect(render('{% for m in request.messages %}{{ m.role }}: {{ m.content }}{% endfor %}')).toBe('user: hello')
  expect(render('{{ "a,b" | split: "," | join: " and " }}{% comment %} {{ nothing }} {% endcomment %}')).toBe('a and b')
})

test('a text is rendered as text, and a lone expression inside a value keeps its type', () => {
  const tool = toolFact('weather', '{"degrees": 21.5}')
  const turn = templates.compile('{{ turn }}', ['turn'])
  expect([turn.renderText(() => 1), turn.renderValue(() => 1)]).toEqual(['1', 1])
  expect(
    render(
      {
        turn: '{{ turn }}',
        next: '{{ turn | plus: 1 }}',
        degrees: '{{ tool.content.degrees }}',
        all: '{{ tool.content }}',
        warm: '{{ tool.content.degrees }} °C',
        yes: '{{ true }}',
        spaced: ' {{ turn }}',
        list: ['{{ request.messages }}', 4, null, false],
        numbers: '{{ (1..3) }}',
        none: '{{ nil }}',
        '{{ turn }}': 'a key',
      },
      { tool },
    ),
  ).toEqual({
    turn: 1,
    next: 2,
    degrees: 21.5,
    all: { degrees: 21.5 },
    warm: '21.5 °C',
    yes: true,
    spaced: ' 1',
    list: [[{ role: 'user', content: 'hello' }], 4, null, false],
    numbers: [1, 2, 3],
    none: null,
    '1': 'a key',
  })
})

test('a missing value is empty in a text, and drops its key or item from a value', () => {
  expect(render('[{{ tool.name }}{{ match[1] }}{{ request.a.b.c }}{{ caller.name }}]')).toBe('[]')
  expect(render({ a: '{{ tool.content.x }}', b: ['{{ match[1] }}'], c: '-{{ match[1] }}-' })).toEqual({
    b: [],
    c: '--',
  })
  expect(render({ a: ['{{ match[1] }}', 'x', ['{{ match[2] }}']], '{{ match[1] }}': 1 })).toEqual({ a: ['x', []] })
  expect(render({ a: '{{ match[1] | downcase }}', b: '{{ match[1] | default: "x" | upcase }}' })).toEqual({ b: 'X' })
})

test('keys are templates, and two that render the same are a mistake', () => {
  const template = { '{{ user }}': 1, 'for {{ model }}': { '{{ turn }}': '{{ turn }}' } }
  expect(render(template, { user: 'Oslo' })).toEqual({ Oslo: 1, 'for gpt-4o-mini': { 1: 1 } })
  expect(mistakeIn({ a: { '{{ user }}': 1, hello: 2 } }, {})).toMatchObject({
    message: 'Two keys are the same when rendered: "hello".',
    path: ['a'],
  })
  expect(mistakeIn({ a: { '{{ usr }}': 1 } })).toMatchObject({ path: ['a', '{{ usr }}'] })
})

describe('forEach', () => {
  const request = { metadata: { cities: ['Oslo', 'Bergen'], days: [1, 2], empty: [] } }
  const forEach = '{{request.metadata.cities}}'

  test('makes one item for each item of a list', () => {
    const list = [0, { forEach, as: 'city', item: { name: '{{city}}', nr: '{{forloop.index}}' } }, 9]
    expect(render({ list }, { request })).toEqual({
      list: [0, { name: 'Oslo', nr: 1 }, { name: 'Bergen', nr: 2 }, 9],
    })
    expect(render([{ forEach, item: '{{item | upcase}}' }], { request })).toEqual(['OSLO', 'BERGEN'])
    expect(render([{ forEach, item: 1 }], { request })).toEqual([1, 1])
  })

  test('can be nested, and sees the outer item', () => {
    const item = {
      city: '{{city}}',
      days: [{ forEach: '{{request.metadata.days}}', as: 'day', item: '{{city}} {{day}}' }],
    }
    expect(render([{ forEach, as: 'city', item }], { request })).toEqual([
      { city: 'Oslo', days: ['Oslo 1', 'Oslo 2'] },
      { city: 'Bergen', days: ['Bergen 1', 'Bergen 2'] },
    ])
  })

  test.each(['{{request.metadata.empty}}', '{{request.metadata.nowhere}}'])('makes no items from %s', list => {
    expect(render([{ forEach: list, item: 'x' }], { request })).toEqual([])
  })

  test.each([
    [{ forEach }, 'forEach needs item, the value to repeat for each item of the list.'],
    [{ forEach, as: 'user', item: 1 }, 'as cannot be user, which means something else in templates.'],
    [{ forEach: 'in {{user}}', item: 1 }, 'forEach must be one expression, such as {{request.metadata.cities}}.'],
    [{ forEach, as: 'city', item: '{{cty}}' }, expect.stringMatching(/^cty is not known in templates\./)],
  ])('%j is a mistake', (item, message) => {
    expect(mistakeIn({ a: [1, item] })).toMatchObject({ message, path: expect.arrayContaining(['a', 1]) })
  })

  test('a value that is not a list, or a list that is too long, is a mistake when rendered', () => {
    const mapped = (list: string) => [{ forEach: list, item: { a: [{ forEach: list, item: 1 }] } }]
    expect(mistakeIn(mapped('{{user}}'), {})).toMatchObject({
      message: 'forEach needs a list, and {{user}} is not one.',
    })
    const long = { request: { list: Array(40).fill(1) } }
    expect(mistakeIn(mapped('{{request.list}}'), long)).toMatchObject({
      message: 'forEach would make more than 1000 items.',
    })
  })
})

test('large integers keep their digits in values, texts and JSON', () => {
  const id = 12345678901234567890n
  const request = { metadata: { id, list: [id] } }
  const tool = toolFact(
    't',
    '{"id": -9223372036854775808, "pi": 3.14159265358979323846, "text": "12345678901234567890"}',
  )
  expect(render({ id: '{{request.metadata.id}}' }, { request })).toEqual({ id })
  expect(render('{{request.metadata.id}} {{request.metadata}} {{request.metadata.list | json}}', { request })).toBe(
    `${id} {"id":${id},"list":[${id}]} [${id}]`,
  )
  expect(render('{{tool.content}}', { tool })).toBe(
    '{"id":-9223372036854775808,"pi":3.141592653589793,"text":"12345678901234567890"}',
  )
})

test('a tool result is parsed if it is JSON', () => {
  const say = (text: string) =>
    render('{{ tool.name }} {{ tool.content.a }} {{ tool.text }}', { tool: toolFact('t', text) })
  expect(say('{"a": [1]}')).toBe('t [1] {"a": [1]}')
  expect(say('{a}')).toBe('t  {a}')
  expect(say('{"content":[{"type":"text","text":"dry"},{"type":"image"},{"type":"text","text":"or wet"}]}')).toBe(
    't  dry\nor wet',
  )
  expect(say('[{"type":"text","text":"dry"}]')).toBe('t  dry')
  expect(say('[{"type":"bus"}]')).toBe('t  [{"type":"bus"}]')
  expect(render({ content: '{{ tool.content }}' }, { tool: toolFact('t', 'sunny') })).toEqual({ content: 'sunny' })
})

test('objects and arrays become JSON in a text, even through filters and captures', () => {
  const request = { metadata: { unit: 'celsius' }, list: [{ a: 1 }, [2]] }
  expect(render('{{ request.metadata }}', { request })).toBe('{"unit":"celsius"}')
  expect(render('{{ request.metadata | upcase }}', { request })).toBe('{"UNIT":"CELSIUS"}')
  expect(render('{{ "is " | append: request.list }}', { request })).toBe('is [{"a":1},[2]]')
  expect(render('{{ request.list | join: "; " }}', { request })).toBe('{"a":1}; [2]')
  expect(render('{% capture x %}{{ request.metadata }}{% endcapture %}{{ x }}', { request })).toBe('{"unit":"celsius"}')
})

test('groups may have any name, even that of a member of arrays', () => {
  const match = matchOf(/(?<first>\w+) (?<last>\w+)(?<size>!)?(?<length>\?)?(?<__proto__>\.)/, 'Ada Lovelace.')
  expect(render('{{ match.last }}, {{ match.first }}{{ match.size }}{{ match[0] }}', { match })).toBe(
    'Lovelace, AdaAda Lovelace.',
  )
  expect(render('{{ match[1] }}{{ match.name }}', { match: matchOf(/x/, 'hello') })).toBe('')
})

describe('a mistake is reported with its place when the template is compiled', () => {
  test.each([
    ['Hi {{ usr }}', 1, 7, `usr is not known in templates.${didYouMean('user')} ${RAW_HINT}`],
    ['one\ntwo {{ moddel }}', 2, 8, `moddel is not known in templates.${didYouMean('model')} ${RAW_HINT}`],
    ['{{ user | upcas }}', 1, 1, `The filter upcas is not known in templates.${didYouMean('upcase')} ${RAW_HINT}`],
    ['{{ caller.mail }}', 1, 4, `caller.mail is not known in templates.${didYouMean('email')} ${RAW_HINT}`],
    ['Dear {{ user.name }}', 1, 9, `user.name is not known in templates. ${RAW_HINT}`],
    ['{{#each items}}', 1, 3, expect.stringContaining(RAW_HINT)],
    ['{{ .Values.host }}', 1, 4, expect.stringContaining(RAW_HINT)],
    ['{% if x.y == 1 %}{% endif %}', 1, 7, expect.stringMatching(/^x is not known in templates\. There are request, /)],
    ['{{ constructor }}', 1, 4, expect.stringMatching(/^constructor is not known in templates\./)],
    ['{{ user name }}', 1, 1, expect.stringMatching(/^There are operators without values/)],
    ['a\n  {% endif %}', 2, 3, `The tag endif has no matching if. ${RAW_HINT}`],
    ['{% fro m in request.messages %}', 1, 1, `The tag fro is not known in templates.${didYouMean('for')} ${RAW_HINT}`],
    ['function() {{ }}', 1, 15, `The template cannot be read: invalid value expression: "". ${RAW_HINT}`],
    ['x {{ user', 1, 3, expect.stringMatching(/^The template cannot be read: output .* not closed\. If the braces/)],
  ])('%j at %i:%i', (template, line, column, message) => {
    expect(mistakeIn(template)).toEqual({ message, line, column, path: [] })
  })

  test('with the path of the text inside a value', () => {
    expect(mistakeIn({ city: '{{ user }}', days: [1, { unit: '{{ usr }}' }] })).toMatchObject({
      path: ['days', 1, 'unit'],
      line: 1,
      column: 4,
    })
  })

  test.each(['include "a"', 'render "/etc/passwd"', 'echo user'])('there is no tag for %s', tag => {
    const [name] = tag.split(' ')
    expect(mistakeIn(`{% ${tag} %}`)).toMatchObject({
      message: expect.stringContaining(`The tag ${name} is not known in templates.`),
    })
  })

  test('any input either compiles and renders, or fails with a readable mistake', () => {
    const words = ['{{', '}}', '{%', '%}', 'if', 'for', 'in', 'user', 'request', 'faker', '.', '|', ':', 'upcase', ' ']
    const more = ['"', "'", '[', ']', '(', ')', '1', '..', 'endif', 'endfor', 'assign', '=', 'x', 'raw', 'match', 'and']
    const braces = fc.constantFrom('{{ ', ' }}', '{% if user %}', '{% endif %}', '{{ user }}', '{% raw %}')
    const written = fc.array(fc.oneof(braces, fc.constantFrom(...words, ...more)), { maxLength: 12 })
    fc.assert(
      fc.property(written, parts => {
        const mistake = mistakeIn(parts.join(' '), {})
        expect(mistake.message ?? '', parts.join(' ')).not.toMatch(/undefined|not a function|Cannot read/)
      }),
      { numRuns: runs(2000) },
    )
  })
})

// Without limits none of these would end in reasonable time.
describe('no template blocks the process', () => {
  test.each([
    ['{% for i in (1..1000000000) %}x{% endfor %}', 'characters or elements'],
    [
      '{% for i in (1..9999) %}{% for j in (1..9999) %}{% for k in (1..9999) %}{% endfor %}{% endfor %}{% endfor %}',
      'it goes through loops more than 100,000 times',
    ],
    [
      '{% assign s = "xx" %}{% for i in (1..99) %}{% capture s %}{{ s }}{{ s }}{% endcapture %}{% endfor %}',
      'characters or elements',
    ],
  ])('%s', (template, reason) => {
    expect(mistakeIn(template, {})).toMatchObject({
      message: expect.stringMatching(/^The template cannot be rendered: its? /),
      line: 1,
    })
    expect(mistakeIn({ a: template }, {}).message).toContain(reason)
  })

  test.each(['(100000000000000000..100000000000000001)', '(match[1]..match[2])'])(
    'the range %s, which might never end, is refused',
    range => {
      expect(mistakeIn(`{% for i in ${range} %}{% endfor %}`)).toMatchObject({
        message: 'A range must begin with a literal number: (1..count).',
        column: 13,
      })
    },
  )
})

test('a filter that fails says why and where', () => {
  expect(mistakeIn('a\n{{ user | url_decode }}', { user: '%' })).toEqual({
    message: 'The template cannot be rendered: URI malformed.',
    line: 2,
    column: 1,
    path: [],
  })
  expect(mistakeIn({ a: ['{{ user | url_decode }}'] }, { user: '%' })).toMatchObject({ path: ['a', 0], line: 1 })
})

describe('faker', () => {
  test('the same seed gives the same values, and another seed gives others', async () => {
    const template = {
      name: '{{ faker.person.fullName }} {{ faker.person.fullName }}',
      when: '{{ faker.date.past }} {{ faker.string.ulid }}',
      number: '{{ faker.number.int }}',
    }
    const said = async (seed: number) => render(template, { faker: await seededFaker(seed) }) as typeof template
    const first = await said(1)
    expect(await said(1)).toEqual(first)
    expect(await said(2)).not.toEqual(first)
    const [given, , again] = first.name.split(' ')
    expect(given).not.toBe(again)
  })

  test('every function without required arguments is available and returns something that JSON can hold', async () => {
    const faker = await seededFaker(3)
    const needing = ['date.between', 'date.betweens', 'string.fromCharacters']
    const functions = Object.entries(faker as unknown as Record<string, object>)
      .filter(([module, part]) => typeof part === 'object' && !['fakerCore', 'helpers'].includes(module))
      .flatMap(([module, part]) => Object.keys(part).map(name => `${module}.${name}`))
      .filter(name => !name.endsWith('.faker') && !needing.includes(name))
    expect(functions.length).toBeGreaterThan(200)
    for (const name of functions) {
      const made = render({ made: `{{ faker.${name} }}`, text: `:{{ faker.${name} }}` }, { faker }) as {
        made: unknown
        text: string
      }
      expect(made.made, name).not.toBeNull()
      expect(JSON.parse(JSON.stringify(made)), name).toEqual(made)
      expect(made.text, name).not.toMatch(/^:$|\[object|=>/)
    }
  })

  test('generated addresses are in reserved domains', async () => {
    // One of the calls warns that it is deprecated, each time.
    const warned = vi.spyOn(console, 'warn').mockImplementation(() => {})
    onTestFinished(() => warned.mockRestore())
    const faker = await seededFaker(11)
    const names = [
      'internet.email',
      'internet.url',
      'internet.domainName',
      'image.url',
      'image.avatar',
      'image.urlLoremFlickr',
    ]
    for (const name of names) {
      for (let i = 0; i < 30; i++) {
        expect(render(`{{ faker.${name} }}`, { faker }), name).toMatch(/(^|[@./])example\.(com|net|org)(\/|$)/)
      }
    }
  })

  test.each([
    ['faker.person.fulName', `faker.person.fulName is not known in templates.${didYouMean('faker.person.fullName')}`],
    ['faker.helpers.fake', 'faker.helpers is not known in templates.'],
    ['faker.constructor.name', /^faker\.constructor is not known in templates\./],
    ['faker.date.between', 'faker.date.between needs arguments, which templates cannot give.'],
  ])('%s is a mistake', (name, message) => {
    const sentence = typeof message === 'string' ? message : expect.stringMatching(message as RegExp)
    expect(mistakeIn(`{{ ${name} }}`)).toMatchObject({ message: sentence, line: 1, column: 4 })
  })
})

test('headers with credentials are not shown', () => {
  const secret = { authorization: 'Bearer x', 'proxy-authorization': 'x', apikey: 'x', 'x-api-key': 'x', cookie: 'x' }
  expect(shownHeaders({ ...secret, 'x-tenant': 'acme', 'x-many': ['a', 'b'], host: 'h', via: undefined })).toEqual({
    'x-tenant': 'acme',
    'x-many': 'a,b',
    host: 'h',
  })
})
