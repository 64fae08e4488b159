// SPDX-License-Identifier: GPL-2.0-only
/* SipHash-1-3 with a random key for each run of the program. */

#include <sys/random.h>

#include "hash.h"

static uint64_t rotate_left(uint64_t word, unsigned int bits)
{
	return word << bits | word >> (64 - bits);
}

static inline void mix_state(uint64_t v[4])
{
	v[0] += v[1];
	v[1] = rotate_left(v[1], 13) ^ v[0];
	v[0] = rotate_left(v[0], 32);
	v[2] += v[3];
	v[3] = rotate_left(v[3], 16) ^ v[2];
	v[0] += v[3];
	v[3] = rotate_left(v[3], 21) ^ v[0];
	v[2] += v[1];
	v[1] = rotate_left(v[1], 17) ^ v[2];
	v[2] = rotate_left(v[2], 32);
}

static inline void absorb_word(uint64_t v[4], uint64_t word)
{
	v[3] ^= word;
	mix_state(v);
	v[0] ^= word;
}

/**
 * hash_bytes() - hash the key of an entry
 * @bytes: key
 * @size: bytes of the key
 *
 * Return: the hash.
 */
uint32_t hash_bytes(const void *bytes, size_t size)
{
	static uint64_t key[2];
	const unsigned char *at = bytes;
	size_t remaining = size;
	uint64_t v[4], word;

	/* Without random bytes the tables stay correct, but a crafted file can make them slow. */
	if (!key[0]) {
		if (getrandom(key, sizeof(key), GRND_NONBLOCK) != sizeof(key))
			key[0] = 1;
		key[0] |= 1;
	}
	v[0] = key[0] ^ UINT64_C(0x736F6D6570736575);
	v[1] = key[1] ^ UINT64_C(0x646F72616E646F6D);
	v[2] = key[0] ^ UINT64_C(0x6C7967656E657261);
	v[3] = key[1] ^ UINT64_C(0x7465646279746573);
	for (; remaining >= sizeof(word); at += sizeof(word), remaining -= sizeof(word)) {
		memcpy(&word, at, sizeof(word));
		absorb_word(v, word);
	}
	word = 0;
	memcpy(&word, at, remaining);
	absorb_word(v, word | (uint64_t)size << 56);
	v[2] ^= 0xFF;
	mix_state(v);
	mix_state(v);
	mix_state(v);
	return v[0] ^ v[1] ^ v[2] ^ v[3];
}
