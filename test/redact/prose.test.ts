import { expect, test } from 'vitest'
import { createRedact, findSecrets } from '../../src/redact/index.js'
import { noRules } from './secrets.js'

const pseudoRandom = (n: number) => Buffer.from(Array.from({ length: n }, (_, i) => (i * 7919 + ((i * i) >> 3)) & 0xff))

/** Texts without secrets. */
const harmless: Readonly<Record<string, string>> = {
  English: `We asked the task force to risk a desk-based review of disk-encryption-2023-draft. The bearer of good news,
    Bearer Internationalization Committee, uses sk-learn and sk-container-id-1 in a notebook; the key-value store is
    called hf_hub, the token limit is 4096, and gh_pages is a branch. "Ask-me-anything-about-benchmark-2024" was fun.`,
  German: `Der Überbringer (Bearer Kraftfahrzeughaftpflichtversicherungsgesellschaft) fragt: „Ist das Kennwort geheim?“
    Ein Musk-Ox frisst, die Risk-Management-Abteilung-2024 schweigt; Schlüssel und Passwörter stehen nirgends.`,
  code: `const headers = { authorization: \`Bearer \${process.env.OPENAI_API_KEY}\` }
    from sklearn import tree  # pip install scikit-learn==1.5.2
    ALTER TABLE t ADD CONSTRAINT pk_user_archive_2024_index PRIMARY KEY (id); -- rk_2 fk_3
    .sk-toggleable__label-arrow { color: red } #sk-container-id-12 div.sk-text-repr-fallback { display: none }
    if (text.startsWith('eyJ')) return jwt.decode(text) // eyJhbGciOi… and eyJ.a.b
    git clone git@github.com:someone/sk-something-good.git && curl -H "Authorization: Bearer YOUR_API_KEY"
    aws configure set key AKIA; export TOKEN=sk-...; sk-xxxxxxxxxxxx; ghp_xxxx; hf_your_token_here`,
  'an image': `data:image/png;base64,${pseudoRandom(30_000).toString('base64')}`,
  UUIDs: '3f2504e0-4f89-41d3-9a0c-0305e82c3301 urn:uuid:6ba7b810-9dad-11d1-80b4-00c04fd430c8',
  hashes: `sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08 ${pseudoRandom(64).toString('hex')}
    commit e339a76b8d1f0c2d4a5968776655443322110099 integrity sha512-${pseudoRandom(64).toString('base64')}`,
  'model names': `gpt-4o-mini-2024-07-18 claude-3-5-sonnet-20241022 text-embedding-3-small llama-3.1-70b-versatile
    deepseek-r1-distill-qwen-32b mistralai/Mixtral-8x7B-Instruct-v0.1 chatcmpl-AbC123dEf456GhI789jKl fp_44709d6fcb
    call_0bHDtZpD4Ak2kZ9mJqVb1X2c msg_01XFDUDYJgAACzvnptvVoYEL req_011CSHoEeqs5C35K2UUqR7Fy`,
  'email addresses': 'ada@example.com <bob@example.org>',
  'a JSON Web Key': '{"kty":"EC","crv":"P-256","x":"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU","use":"sig"}',
  'a public key': `-----BEGIN PUBLIC KEY-----\n${pseudoRandom(90).toString('base64')}\n-----END PUBLIC KEY-----`,
}

for (const [name, text] of Object.entries(harmless)) {
  test(`nothing in ${name} is mistaken for a secret`, () => {
    const { text: redacted, value } = createRedact(noRules)(['sk-local-StandinDevelopmentKeyDoNotDeploy41E9kt'])
    expect(redacted(text)).toBe(text)
    expect(redacted(JSON.stringify(text))).toBe(JSON.stringify(text))
    expect(value({ text })).toEqual({ text })
    expect(findSecrets(text, noRules)).toEqual([])
  })
}
