import { expect, test } from 'vitest'
import { callUrl } from '../../src/webhooks/call-url.ts'

test.each<[url: string, called: string]>([
  ['https://hook.example', 'https://hook.example/'],
  ['https://hook.example/', 'https://hook.example/'],
  ['https://hook.example/a/b', 'https://hook.example/a/b'],
  ['https://hook.example/a/', 'https://hook.example/a'],
  ['https://127.0.0.1:33303//mutate-v1-pod', 'https://127.0.0.1:33303/mutate-v1-pod'],
  ['https://[::1]:9/a//b/./c', 'https://[::1]:9/a/b/c'],
  ['https://hook.example/../a/../b', 'https://hook.example/b'],
  ['https://hook.example/%2e%2e/a%2Fb/%41', 'https://hook.example/a/b/A'],
  ['https://hook.example/a b/ü', 'https://hook.example/a%20b/%C3%BC'],
  ['https://hook.example/a!(b)%25', 'https://hook.example/a%21%28b%29%25'],
  ['HTTPS://Hook.Example/A', 'https://Hook.Example/A'],
])('%s is called at %s', (url, called) => {
  expect(callUrl(url)).toBe(called)
})
