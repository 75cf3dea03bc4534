// SPDX-License-Identifier: MIT OR Apache-2.0
// A client as others write them: @grpc/grpc-js and the installed .proto, nothing of ours.
//   node client.mjs MODULES PROTO ADDRESS REQUEST.json OUT   prove; writes the proof
// The request is a SubmitProofRequest in protobuf's JSON mapping.
import { createRequire } from 'node:module';
import { readFileSync, writeFileSync } from 'node:fs';

const [modules, proto, address, requestPath, out] = process.argv.slice(2);
const require = createRequire(modules + '/package.json');
const grpc = require('@grpc/grpc-js');
const loader = require('@grpc/proto-loader');

const definition = loader.loadSync(proto, { longs: String, enums: String, defaults: true });
const { ProvingEngine } = grpc.loadPackageDefinition(definition).cuzk.v1;
const client = new ProvingEngine(address, grpc.credentials.createInsecure(), {
	'grpc.max_receive_message_length': 256 << 20,
	'grpc.max_send_message_length': 256 << 20,
});
const bytes = (s) => Buffer.from(s ?? '', 'base64');
const j = JSON.parse(readFileSync(requestPath));
const submit = {
	...j,
	vanillaProof: bytes(j.vanillaProof),
	vanillaProofs: (j.vanillaProofs ?? []).map(bytes),
	randomness: bytes(j.randomness),
	commROld: bytes(j.commROld), commRNew: bytes(j.commRNew), commDNew: bytes(j.commDNew),
};
const call = (method, request) => new Promise((resolve, reject) =>
	client[method](request, { deadline: Date.now() + 60000 }, (err, reply) => err ? reject(err) : resolve(reply)));

try {
	const { result } = await call('Prove', { submit });
	const status = await call('GetStatus', {});
	const again = await call('SubmitProof', submit);
	const awaited = await call('AwaitProof', { jobId: again.jobId, timeoutMs: '1000' });
	const unknown = await call('AwaitProof', { jobId: 'nothing' }).catch((err) => err.code);
	writeFileSync(out, result.proof);
	console.log(JSON.stringify({
		status: result.status, error: result.errorMessage, bytes: result.proof.length, job: result.jobId,
		again: again.jobId, same: Buffer.compare(awaited.proof, result.proof) === 0,
		unknown, completed: status.totalProofsCompleted, queues: status.queues.map((q) => q.proofKind),
	}));
} catch (err) {
	console.error(String(err));
	process.exitCode = 1;
}
client.close();
