// `kedge token` prints the administrator's token, and `kedge token create` makes a bootstrap token for nodes.
import { isIP } from 'node:net'
import { serverOf } from './backup.ts'
import { secondsOf } from '../flags/identity.ts'
import { createBootstrapToken, joinCommand } from './join.ts'
import { UsageError, parse } from '../flags/usage.ts'

export async function runTokenCreate(args: string[], running: (directory: string) => string): Promise<void> {
  const flags = parse(args, {
    ttl: { type: 'string', default: '24h' },
    description: { type: 'string', default: '' },
    'control-plane-endpoint': { type: 'string' },
    'print-join-command': { type: 'boolean', default: false },
    'data-dir': { type: 'string', default: '.kedge' },
  })
  const seconds = secondsOf(flags.ttl)
  if (seconds === undefined) throw new UsageError(`--ttl wants a duration, as 24h or 30m, not "${flags.ttl}".`)
  const server = serverOf(running(flags['data-dir']))
  const endpoint = flags['control-plane-endpoint'] ?? new URL(server.url).host
  const { host, hostname } = endpointOf(endpoint)
  if (isLoopback(hostname))
    console.error(
      `kedge: ${host} is this machine alone. For others start with --host or --san, and give --control-plane-endpoint.`,
    )
  const token = await createBootstrapToken(
    server,
    { endpoint: host, seconds, description: flags.description },
    new Date(),
  )
  console.log(flags['print-join-command'] ? joinCommand(server, host, token) : token)
}

/** @throws UsageError */
function endpointOf(endpoint: string): { host: string; hostname: string } {
  const text = /:\d+$/.test(endpoint) ? endpoint : `${endpoint}:6443`
  if (/[/?#@\s]/.test(text) || !URL.canParse(`https://${text}`))
    throw new UsageError(`--control-plane-endpoint wants HOST:PORT, not "${endpoint}".`)
  return { host: text, hostname: new URL(`https://${text}`).hostname.replace(/^\[|\]$/g, '') }
}

const isLoopback = (host: string): boolean =>
  host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'))
