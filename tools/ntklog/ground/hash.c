// SPDX-License-Identifier: GPL-2.0-only
/*
 * A hash with a random key for each run of the program: products of the halves of words, as in
 * wyhash32. The product of each word becomes a part of the next one.
 */

#include <sys/random.h>

#include "hash.h"

static inline uint64_t mix_word(uint64_t word, uint64_t key)
{
	word ^= key;
	return (word & UINT32_MAX) * (word >> 32);
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
	uint64_t sum = 0, word;
	size_t remaining = size;

	/* Without random bytes the tables stay correct, but a crafted file can make them slow. */
	if (!key[0]) {
		if (getrandom(key, sizeof(key), GRND_NONBLOCK) != sizeof(key))
			key[1] = UINT64_C(0x9E3779B97F4A7C15);
		key[0] |= 1;
	}
	for (; remaining >= sizeof(word); at += sizeof(word), remaining -= sizeof(word)) {
		memcpy(&word, at, sizeof(word));
		sum = mix_word(sum ^ word, key[0]);
	}
	if (remaining) {
		word = 0;
		memcpy(&word, at, remaining);
		sum = mix_word(sum ^ word, key[0]);
	}
	/* The low bits of a product are rarely 1. The upper half balances them. */
	sum = mix_word(sum ^ size, key[1]);
	return sum ^ sum >> 32;
}
