import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { expect, test } from 'vitest'
import { namingFlags } from '../../../src/cli/flags/named-flags.ts'
import { fileFlags, startFlags, startOptions, startSchema } from '../../../src/cli/flags/start.ts'
import { CannotStart } from '../../../src/cli/start/options.ts'

const directory = mkdtempSync(join(tmpdir(), 'kedge-flags-'))
const parsed = (...args: string[]) => startSchema.safeParse(parseArgs({ args, options: startFlags }).values)

/** What else a flag needs. */
const beside: Readonly<Record<string, readonly string[]>> = {
  'audit-webhook-config-file': ['--audit-policy-file', join(directory, 'policy')],
  'tls-cert-file': ['--tls-private-key-file', join(directory, 'policy')],
  'tls-private-key-file': ['--tls-cert-file', join(directory, 'policy')],
  'oidc-ca-file': ['--oidc-issuer-url', 'https://issuer', '--oidc-client-id', 'kedge'],
}

/** The error of a start, as the command says it. */
async function problem(flag: string, file: string): Promise<string> {
  const { data } = parsed(`--${flag}`, file, ...(beside[flag] ?? []))
  const error = await startOptions(data!).then(
    () => undefined,
    (reason: unknown) => namingFlags(reason, data!, fileFlags),
  )
  return error instanceof Error ? error.message : 'no error'
}

writeFileSync(join(directory, 'policy'), 'rules: []')

test('the flags that name files are those that say so in their names, and a few more', () => {
  const saying = Object.keys(startFlags).filter((flag) => /-(?:file|config)$/.test(flag) && flag !== 'runtime-config')
  const more = ['encryption-keys', 'kubelet-certificate-authority', 'service-account-signing-endpoint']
  expect(fileFlags.toSorted()).toEqual([...saying, ...more].toSorted())
})

// the file of this flag is read by the engine
const read = fileFlags.filter((flag) => flag !== 'authorization-webhook-config-file')

test.each(read)('a file of --%s that cannot be read is named with the flag', async (flag) => {
  for (const file of [join(directory, 'missing'), directory]) {
    const message = await problem(flag, file)
    expect(message).toContain(`--${flag} ${file}`)
    expect(message.replace(`--${flag} ${file}`, '')).toContain(file)
  }
})

test.each(fileFlags)('--%s without a name is refused', (flag) => {
  expect(parsed(`--${flag}=`, ...(beside[flag] ?? [])).error?.issues).toContainEqual(
    expect.objectContaining({ path: [flag], message: 'wants the name of a file, not "".' }),
  )
})

test('a setting that is wrong is told with the flag that made it', () => {
  const error = new CannotStart('The settings are wrong: KEDGE_ENCRYPTION_KEYS must be ID:BASE64')
  expect(namingFlags(error, { 'encryption-keys': 'keys', 'encryption-resources': 'secrets' }, fileFlags)).toEqual(
    new CannotStart('The settings are wrong: KEDGE_ENCRYPTION_KEYS must be ID:BASE64 (--encryption-keys keys)'),
  )
})

test('an empty file of authorities is no reason to trust those of browsers', async () => {
  const file = join(directory, 'empty')
  writeFileSync(file, '\n')
  expect(await problem('oidc-ca-file', file)).toBe(
    `${file} is empty: it must have the issuer's authorities in PEM (--oidc-ca-file ${file})`,
  )
})

test('a data directory that cannot be made is told with its flag', () => {
  expect(
    namingFlags(new Error("EEXIST: file already exists, mkdir '/a/file'"), { 'data-dir': '/a/file' }, fileFlags),
  ).toEqual(new CannotStart("EEXIST: file already exists, mkdir '/a/file' (--data-dir /a/file)"))
})

test('an error that names its flag, or none that was given, stays as it is', () => {
  for (const text of ['KEDGE_WORKLOADS must be one of off', '--oidc-required-claim wants KEY=VALUE']) {
    const error = new CannotStart(text)
    expect(namingFlags(error, { 'oidc-required-claim': ['x'], port: '0' }, fileFlags)).toBe(error)
  }
})
