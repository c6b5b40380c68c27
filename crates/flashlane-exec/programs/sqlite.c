/* SQLite under a mixed workload: threads insert, update, delete and read accounts in transactions, with a
   write-ahead log or a rollback journal. It is linked with SQLite's own bundled sources. At the end the
   database is checked and its content is printed as a sum, which is the same on every machine: who does
   what does not depend on the order of the threads. */
#include "common.h"

#include "sqlite3.h"

#define ACCOUNTS 64

static const char *path;
static uint64_t seed, rounds, wal;

static void check(int status, sqlite3 *database, const char *what)
{
	if (status == SQLITE_OK || status == SQLITE_ROW || status == SQLITE_DONE)
		return;
	fprintf(stderr, "%s: %s\n", what, database ? sqlite3_errmsg(database) : "no database");
	exit(1);
}

static void run(sqlite3 *database, const char *text)
{
	check(sqlite3_exec(database, text, NULL, NULL, NULL), database, text);
}

static sqlite3 *connect_to(void)
{
	sqlite3 *database;
	check(sqlite3_open(path, &database), NULL, "open");
	sqlite3_busy_timeout(database, 60000);
	run(database, "pragma synchronous = full; pragma cache_size = -256");
	return database;
}

static int64_t number(sqlite3 *database, const char *text)
{
	sqlite3_stmt *statement;
	check(sqlite3_prepare_v2(database, text, -1, &statement, NULL), database, text);
	check(sqlite3_step(statement), database, text);
	int64_t value = sqlite3_column_int64(statement, 0);
	sqlite3_finalize(statement);
	return value;
}

/* A thread changes its own accounts and its own rows only. */
static void *work(void *argument)
{
	uint64_t me = (uintptr_t)argument, draws = seed * 1000 + me;
	sqlite3 *database = connect_to();
	char text[512];
	for (uint64_t round = 0; round < rounds; round++) {
		run(database, "begin immediate");
		for (int i = 0; i < 5; i++) {
			uint64_t size = 20 + below(&draws, 400);
			snprintf(text, sizeof text,
				 "insert into notes(owner, round, text) values (%lu, %lu, hex(zeroblob(%lu)))",
				 (unsigned long)me, (unsigned long)round, (unsigned long)size);
			run(database, text);
		}
		/* One after the other: arguments of a call are evaluated in any order. */
		unsigned long amount = below(&draws, 1000), which = below(&draws, 4);
		snprintf(text, sizeof text,
			 "update accounts set balance = balance + %lu, changes = changes + 1 "
			 "where owner = %lu and id %% 4 = %lu",
			 amount, (unsigned long)me, which);
		run(database, text);
		if (round % 4 == 3) {
			snprintf(text, sizeof text,
				 "delete from notes where owner = %lu and round = %lu and length(text) > 400",
				 (unsigned long)me, (unsigned long)below(&draws, round));
			run(database, text);
		}
		run(database, "commit");
		snprintf(text, sizeof text, "select count(*) from notes where owner = %lu",
			 (unsigned long)me);
		if (number(database, text) <= 0) {
			fprintf(stderr, "the notes of thread %lu are gone\n", (unsigned long)me);
			exit(1);
		}
	}
	check(sqlite3_close(database), database, "close");
	return NULL;
}

/* Makes the database, and has the threads work with it. */
static void fill(sqlite3 *database, unsigned threads)
{
	run(database, wal ? "pragma journal_mode = wal" : "pragma journal_mode = delete");
	run(database, "create table accounts(id integer primary key, owner, balance, changes);"
		      "create table notes(id integer primary key, owner, round, text);"
		      "create index by_owner on notes(owner, round)");
	run(database, "begin");
	for (unsigned i = 0; i < ACCOUNTS; i++) {
		char text[128];
		snprintf(text, sizeof text, "insert into accounts values (%u, %u, 1000, 0)", i, i % threads);
		run(database, text);
	}
	run(database, "commit");
	mark("begin");
	run_threads(threads, work);
	mark("end");
}

/* With check=1 it looks at a database that is there. */
int main(int argc, char **argv)
{
	static const char *const names[] = {"threads", "rounds", "seed", "wal", "path", "check", NULL};
	only_options(argc, argv, names);
	path = "/database";
	for (int i = 1; i < argc; i++) {
		if (strncmp(argv[i], "path=", 5) == 0)
			path = argv[i] + 5;
	}
	seed = option(argc, argv, "seed", 1);
	rounds = option(argc, argv, "rounds", 20);
	wal = option(argc, argv, "wal", 1);
	unsigned threads = (unsigned)option(argc, argv, "threads", 4);
	sqlite3 *database = connect_to();
	if (option(argc, argv, "check", 0) == 0)
		fill(database, threads);
	if (number(database, "select count(*) from pragma_integrity_check where "
			     "integrity_check <> 'ok'") != 0) {
		fprintf(stderr, "the integrity check fails\n");
		return 1;
	}
	printf("accounts %ld, notes %ld, letters %ld, mixed %ld\n",
	       (long)number(database, "select sum(balance * (id + 1)) from accounts"),
	       (long)number(database, "select count(*) from notes"),
	       (long)number(database, "select sum(length(text)) from notes"),
	       (long)number(database, "select sum(length(text) * (owner + 1) * (round + 1)) from notes"));
	check(sqlite3_close(database), database, "close");
	return 0;
}
