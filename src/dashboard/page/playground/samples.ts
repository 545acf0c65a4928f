/** What the fields for JSON begin with, for whoever has nothing at hand. */

const written = (value: unknown) => JSON.stringify(value, null, 2)

export const sampleTools = written([
  {
    type: 'function',
    function: {
      name: 'get_weather',
      description: 'Tells the weather of a city.',
      parameters: {
        type: 'object',
        properties: { city: { type: 'string' } },
        required: ['city'],
      },
    },
  },
])

export const sampleSchema = written({
  type: 'object',
  properties: {
    name: { type: 'string' },
    age: { type: 'integer', minimum: 0 },
  },
  required: ['name', 'age'],
  additionalProperties: false,
})
